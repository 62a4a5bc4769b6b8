#include "driver/raster/candidates.h"

#include <algorithm>
#include <set>

#include "driver/gdal/messages.h"
#include "driver/multidim/array.h"  // IWYU pragma: keep, a complete type to return
#include "driver/multidim/mask_arrays.h"
#include "driver/types/type_mapping.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/base/text.h"

namespace gdal_zarr {
namespace {

// Walks the hierarchy, whose depth the core bounds.
void collect(const Session& session, const std::string& group, Candidates& found,
             std::set<std::string>& helpers) {
  for (const zarrcore::Child& child : session.hierarchy().children(group)) {
    const std::string path = zarrcore::join_path(group, child.name);
    if (child.kind == zarrcore::Child::Kind::group) {
      collect(session, path, found, helpers);
      continue;
    }
    if (child.kind == zarrcore::Child::Kind::broken) {
      report(CE_Warning, CPLE_AppDefined, "Zarr: %s: %s", session.path().c_str(),
             child.problem.c_str());
      continue;
    }
    const auto array = session.array_metadata(path);
    if (!array) continue;
    if (!array->shape.empty()) found.array_paths.insert(path);
    // CF: the variables that these attributes name describe this one.
    for (const char* name : {"coordinates", "bounds", "climatology", "cell_measures"}) {
      const std::string* text = zarrcore::find_string(array->attributes, name);
      if (text == nullptr) continue;
      for (const std::string& word : zarrcore::words_of(*text)) {
        helpers.insert(zarrcore::join_path(group, word));
      }
    }
    for (const std::string& mask : mask_paths(session, path)) helpers.insert(mask);
    try {
      if (gdal_type(array->data_type).GetClass() == GEDTC_NUMERIC) {
        found.rasters.push_back({path, array->shape, array->data_type});
      }
    } catch (const zarrcore::Error& error) {
      report(CE_Warning, CPLE_AppDefined, "Zarr: %s: array /%s: %s", session.path().c_str(),
             path.c_str(), error.what());
    }
  }
}

}  // namespace

Candidates find_candidates(Session& session, bool list_all) {
  Candidates found;
  if (session.root_is_array()) {
    const auto array = session.array("");
    if (array->GetDataType().GetClass() == GEDTC_NUMERIC) {
      found.rasters.push_back({"", array->core().shape(), array->core().data_type()});
    }
    return found;
  }
  std::set<std::string> helpers;
  collect(session, "", found, helpers);
  for (const std::string& path : helpers) found.array_paths.erase(path);
  if (list_all) return found;
  std::vector<Candidate> rasters;
  std::copy_if(found.rasters.begin(), found.rasters.end(), std::back_inserter(rasters),
               [&](const Candidate& c) {
                 return c.shape.size() >= 2 && !helpers.contains(c.node_path) &&
                        session.pyramids().finest_level_path(c.node_path).empty();
               });
  if (!rasters.empty()) found.rasters = std::move(rasters);
  return found;
}

bool has_others(const Session& session, const Candidates& candidates) {
  const Candidate& raster = candidates.rasters.front();
  std::set<std::string> others = candidates.array_paths;
  others.erase(raster.node_path);
  const auto array = session.array_metadata(raster.node_path);
  if (others.empty() || !array) return false;
  for (const auto& name : array->dimension_names) {
    std::string group(raster.node_path);
    while (name && !group.empty()) {
      group = zarrcore::parent_path(group);
      others.erase(zarrcore::join_path(group, *name));
    }
  }
  return !others.empty();
}

}  // namespace gdal_zarr
