#include "driver/raster/candidates.h"

#include <algorithm>
#include <set>
#include <utility>

#include "driver/conventions/cf/attributes.h"
#include "driver/conventions/product.h"
#include "driver/gdal/messages.h"
#include "driver/multidim/array.h"  // IWYU pragma: keep, a complete type to return
#include "driver/multidim/mask_arrays.h"
#include "driver/types/type_mapping.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {
namespace {

// What a walk finds.
struct Collected {
  Candidates candidates;
  std::vector<std::pair<std::string, std::string>> named;     // by attributes: group and name
  std::set<std::string> helpers;                              // node paths, of nodes or of none
  std::set<std::pair<std::string, std::string>> ancillaries;  // of an array, and such a path
};

// CF: the variables that these attributes name describe others. UGRID: those of a mesh do.
void add_helpers(const zarrcore::Json& attributes, const std::string& group, Collected& found) {
  const std::string* role = zarrcore::find_string(attributes, "cf_role");
  const bool is_mesh = role != nullptr && *role == "mesh_topology";
  constexpr std::string_view kNames[] = {"coordinates", "bounds", "climatology", "cell_measures"};
  for (const auto& [name, value] : attributes.items()) {
    const bool names_helpers =
        std::ranges::find(kNames, name) != std::end(kNames) ||
        (is_mesh && (name.ends_with("_coordinates") || name.ends_with("_connectivity")));
    if (!names_helpers) continue;
    for (std::string& word : cf::words_in(attributes, name.c_str())) {
      found.named.emplace_back(group, std::move(word));
    }
  }
}

// Adds those that attributes name to the helpers: of a path, or in the group or the nearest above.
void find_helpers(Collected& found) {
  for (const auto& [group, name] : found.named) {
    if (name.find('/') != std::string::npos) {
      found.helpers.insert(zarrcore::resolved_path(group, name));
      continue;
    }
    for (std::string at = group;; at = zarrcore::parent_path(at)) {
      std::string path = zarrcore::join_path(at, name);
      const bool is_here = found.candidates.array_paths.contains(path);
      if (is_here) found.helpers.insert(std::move(path));
      if (is_here || at.empty()) break;
    }
  }
}

// Walks the hierarchy, whose depth the core bounds.
void collect(const Session& session, const std::string& group, Collected& found) {
  std::set<std::string>& helpers = found.helpers;
  add_helpers(*session.attributes(group), group, found);
  for (const zarrcore::Child& child : session.hierarchy().children(group)) {
    const std::string path = zarrcore::join_path(group, child.name);
    if (child.kind == zarrcore::Child::Kind::group) {
      collect(session, path, found);
      continue;
    }
    if (child.kind == zarrcore::Child::Kind::broken) {
      report(CE_Warning, CPLE_AppDefined, "Zarr: %s: %s", session.path().c_str(),
             child.problem.c_str());
      continue;
    }
    const auto array = session.array_metadata(path);
    if (!array) continue;
    if (!array->shape.empty()) found.candidates.array_paths.insert(path);
    add_helpers(array->attributes, group, found);
    if (is_gcp_group(group)) helpers.insert(path);
    for (const std::string& word : cf::words_in(array->attributes, "ancillary_variables")) {
      found.ancillaries.emplace(path, zarrcore::join_path(group, word));
    }
    for (const std::string& mask : mask_paths(session, path)) helpers.insert(mask);
    try {
      if (gdal_type(array->data_type).GetClass() == GEDTC_NUMERIC) {
        found.candidates.rasters.push_back({path, array->shape, array->data_type});
      }
    } catch (const zarrcore::Error& error) {
      report(CE_Warning, CPLE_AppDefined, "Zarr: %s: array /%s: %s", session.path().c_str(),
             path.c_str(), error.what());
    }
  }
}

}  // namespace

Candidates find_candidates(Session& session, bool list_all, const std::string& group) {
  Collected collected;
  Candidates& found = collected.candidates;
  if (session.root_is_array()) {
    const auto array = session.array("");
    if (array->GetDataType().GetClass() == GEDTC_NUMERIC) {
      found.rasters.push_back({"", array->core().shape(), array->core().data_type()});
    }
    return found;
  }
  collect(session, group, collected);
  find_helpers(collected);
  std::set<std::string>& helpers = collected.helpers;
  // Those that name each other are equals.
  for (const auto& [array, ancillary] : collected.ancillaries) {
    if (!collected.ancillaries.contains({ancillary, array})) helpers.insert(ancillary);
  }
  for (const std::string& path : helpers) found.array_paths.erase(path);
  if (list_all) return found;
  std::vector<Candidate> rasters;
  std::copy_if(found.rasters.begin(), found.rasters.end(), std::back_inserter(rasters),
               [&](const Candidate& c) {
                 return c.shape.size() >= 2 && !helpers.contains(c.node_path) &&
                        session.pyramids().finest_level_path(c.node_path).empty();
               });
  if (rasters.empty()) {
    std::ranges::copy_if(found.rasters, std::back_inserter(rasters), [&](const Candidate& c) {
      return !c.shape.empty() && !helpers.contains(c.node_path) &&
             !session.is_dimension_variable(c.node_path);
    });
  }
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
