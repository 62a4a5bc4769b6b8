#include "driver/conventions/crs.h"

#include <cpl_error.h>
#include <cpl_port.h>

#include <vector>

#include "driver/conventions/cf/grid_mapping.h"
#include "driver/conventions/eopf.h"
#include "driver/conventions/proj.h"
#include "driver/gdal/crs_import.h"
#include "driver/gdal/messages.h"

namespace gdal_zarr {
namespace {

using zarrcore::Json;
using CrsPtr = std::shared_ptr<OGRSpatialReference>;

// `_CRS`: {"url": …, "wkt": …, "projjson": {…}, "epoch": 2021.3}, or one of the first three as
// text.
CrsPtr crs_from_gdal_attribute(const Json& value) {
  if (value.is_string()) {
    if (CrsPtr crs = import_crs(value)) return crs;
  }
  for (const char* key : {"url", "wkt", "projjson"}) {
    const Json* member = zarrcore::find_member(value, key);
    if (member == nullptr) continue;
    if (CrsPtr crs = import_crs(*member)) {
      const Json* epoch = zarrcore::find_member(value, "epoch");
      if (epoch != nullptr && epoch->is_number()) crs->SetCoordinateEpoch(*epoch);
      return crs;
    }
  }
  report(CE_Warning, CPLE_AppDefined, "Zarr: the attribute _CRS is not understood");
  return nullptr;
}

CrsPtr crs_from_cf(const CrsSources& sources) {
  const std::string name = grid_mapping_variable(sources.array);
  if (name.empty()) return nullptr;
  const auto variable = sources.find_variable(name);
  std::string problem = "there is no such variable";
  if (variable) {
    if (CrsPtr crs = crs_from_grid_mapping(*variable, sources.linear_unit, &problem)) return crs;
  }
  report(CE_Warning, CPLE_AppDefined, "Zarr: the grid mapping \"%s\" is not understood: %s",
         name.c_str(), problem.c_str());
  return nullptr;
}

// rioxarray writes a grid mapping when it changes the CRS of an array, and leaves `_CRS` as it is.
void warn_of_another_crs(const CrsSources& sources, const OGRSpatialReference& crs) {
  const std::string name = grid_mapping_variable(sources.array);
  const auto variable = name.empty() ? nullptr : sources.find_variable(name);
  const std::string* wkt = variable ? zarrcore::find_string(*variable, "crs_wkt") : nullptr;
  if (wkt == nullptr) return;
  const CrsPtr other = import_crs(*wkt);
  const char* const options[] = {"CRITERION=EQUIVALENT", "IGNORE_COORDINATE_EPOCH=YES",
                                 "IGNORE_DATA_AXIS_TO_SRS_AXIS_MAPPING=YES", nullptr};
  if (!other || crs.IsSame(other.get(), options) != 0) return;
  report(CE_Warning, CPLE_AppDefined,
         "Zarr: the attribute _CRS (%s) and the grid mapping \"%s\" (%s) differ; _CRS is used",
         crs.GetName(), name.c_str(), other->GetName());
}

}  // namespace

// "crs", or the first of "crs: x y other: lat lon".
std::string grid_mapping_variable(const Json& attributes) {
  const std::string* text = zarrcore::find_string(attributes, "grid_mapping");
  return text == nullptr ? std::string() : text->substr(0, text->find_first_of(": "));
}

CrsPtr find_crs(const CrsSources& sources) {
  if (CrsPtr crs = crs_from_proj(sources.array)) return crs;
  // If so, the CRSs of groups do not apply to this array.
  const bool is_denied = proj_denies_crs(sources.array);
  if (!is_denied) {
    for (const auto& group : sources.groups) {
      if (CrsPtr crs = crs_from_proj(*group)) return crs;
    }
  }
  if (const Json* value = zarrcore::find_member(sources.array, "_CRS")) {
    if (CrsPtr crs = crs_from_gdal_attribute(*value)) {
      warn_of_another_crs(sources, *crs);
      return crs;
    }
  }
  if (CrsPtr crs = crs_from_cf(sources)) return crs;
  if (!sources.root || is_denied) return nullptr;
  return is_eopf_array(sources.array) ? crs_from_eopf(*sources.root, sources.store_name)
                                      : crs_from_product(*sources.root);
}

void set_axis_mapping(OGRSpatialReference& crs, int x, int y) {
  OGRAxisOrientation first = OAO_Other;
  OGRAxisOrientation second = OAO_Other;
  const char* first_name = crs.GetAxis(nullptr, 0, &first);
  crs.GetAxis(nullptr, 1, &second);
  bool y_is_first = first == OAO_North || first == OAO_South;
  if (first == second) {
    // Around the poles both axes point the same way: there the name decides.
    y_is_first = first_name != nullptr && STARTS_WITH_CI(first_name, "North");
  }
  std::vector<int> mapping = y_is_first ? std::vector{y, x} : std::vector{x, y};
  // Further axes (height) follow; a number past the data axes means that there is no such data
  // axis.
  for (int axis = 3; axis <= crs.GetAxesCount(); ++axis) mapping.push_back(axis);
  crs.SetDataAxisToSRSAxisMapping(mapping);
}

}  // namespace gdal_zarr
