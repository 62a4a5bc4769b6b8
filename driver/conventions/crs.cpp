#include "driver/conventions/crs.h"

#include <cpl_error.h>
#include <cpl_port.h>

#include <vector>

#include "driver/conventions/cf_grid_mapping.h"

namespace gdal_zarr {
namespace {

using zarrcore::Json;
using Crs = std::shared_ptr<OGRSpatialReference>;

// Runs an import without letting its errors out: the caller says what was wrong in its own words.
template <typename Import>
Crs import_quietly(const Import& import) {
  auto crs = std::make_shared<OGRSpatialReference>();
  CPLPushErrorHandler(CPLQuietErrorHandler);
  const OGRErr result = import(*crs);
  CPLPopErrorHandler();
  CPLErrorReset();
  return result == OGRERR_NONE ? crs : nullptr;
}

Crs import_text(const std::string& text) {
  return import_quietly([&](OGRSpatialReference& crs) {
    return crs.SetFromUserInput(text.c_str(),
                                OGRSpatialReference::SET_FROM_USER_INPUT_LIMITATIONS_get());
  });
}

// `_CRS`: {"url": …, "wkt": …, "projjson": {…}}.
Crs crs_from_gdal_attribute(const Json& value) {
  for (const char* key : {"url", "wkt", "projjson"}) {
    const Json* member = zarrcore::find_member(value, key);
    if (member == nullptr) continue;
    const std::string text =
        member->is_string() ? member->get<std::string>() : zarrcore::dump_json(*member);
    if (Crs crs = import_text(text)) return crs;
  }
  CPLError(CE_Warning, CPLE_AppDefined, "Zarr: the attribute _CRS is not understood");
  return nullptr;
}

}  // namespace

// "crs", or the first of "crs: x y other: lat lon".
std::string grid_mapping_variable(const Json& attributes) {
  const Json* value = zarrcore::find_member(attributes, "grid_mapping");
  if (value == nullptr || !value->is_string()) return {};
  const auto& text = value->get_ref<const std::string&>();
  return text.substr(0, text.find_first_of(": "));
}

Crs find_crs(const Json& attributes, const FindVariable& find_variable,
             const std::string& linear_unit) {
  if (const Json* value = zarrcore::find_member(attributes, "_CRS")) {
    return crs_from_gdal_attribute(*value);
  }
  const std::string name = grid_mapping_variable(attributes);
  if (name.empty()) return nullptr;
  const Json variable = find_variable(name);
  std::string problem = "there is no such variable";
  if (variable.is_object()) {
    if (Crs crs = crs_from_grid_mapping(variable, linear_unit, &problem)) return crs;
  }
  CPLError(CE_Warning, CPLE_AppDefined, "Zarr: the grid mapping \"%s\" is not understood: %s",
           name.c_str(), problem.c_str());
  return nullptr;
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
  // Further axes (height) follow; a number past the data axes means that the data has none.
  for (int axis = 3; axis <= crs.GetAxesCount(); ++axis) mapping.push_back(axis);
  crs.SetDataAxisToSRSAxisMapping(mapping);
}

}  // namespace gdal_zarr
