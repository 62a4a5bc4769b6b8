#include "driver/conventions/cf/grid_mapping.h"

#include <cpl_conv.h>
#include <cpl_error.h>

#include <vector>

#include "driver/conventions/cf/attributes.h"
#include "driver/conventions/cf/projection.h"
#include "driver/gdal/crs_text.h"
#include "driver/gdal/messages.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/text.h"

namespace gdal_zarr {
namespace {

using Crs = OGRSpatialReference;
using cf::Attributes;
using zarrcore::Error;
using zarrcore::find_member;
using zarrcore::Json;

// A geographic CRS with another pole: CF's attributes and PROJ's names of the parameters.
constexpr const char* kRotatedMapping = "rotated_latitude_longitude";
constexpr const char* kRotatedMethod = "Pole rotation (netCDF CF convention)";
constexpr const char* kPoleLatitude = "grid_north_pole_latitude";
constexpr const char* kPoleLongitude = "grid_north_pole_longitude";
constexpr const char* kGridLongitude = "north_pole_grid_longitude";
constexpr std::pair<const char*, const char*> kRotatedParameters[] = {
    {kPoleLatitude, "Grid north pole latitude (netCDF CF convention)"},
    {kPoleLongitude, "Grid north pole longitude (netCDF CF convention)"},
    {kGridLongitude, "North pole grid longitude (netCDF CF convention)"}};

// The shift to WGS 84; empty if there is none.
std::vector<double> read_shift(const Attributes& attributes, const Crs& geographic) {
  std::vector<double> shift = attributes.numbers("towgs84");
  if (shift.empty()) return shift;
  if (shift.size() != 3 && shift.size() != 6 && shift.size() != 7) {
    throw Error("towgs84 does not hold 3, 6 or 7 numbers");
  }
  // WGS 84 has no shift to itself.
  const char* code = geographic.GetAuthorityCode(nullptr);
  if (code != nullptr && EQUAL(code, "4326")) return {};
  shift.resize(7);
  return shift;
}

Crs crs_from_parameters(const Json& values, const std::string& linear_unit) {
  const Attributes attributes(values);
  const std::string mapping = attributes.text("grid_mapping_name");
  if (mapping.empty()) throw Error("grid_mapping_name is missing");
  const bool is_rotated = EQUAL(mapping.c_str(), kRotatedMapping);
  const bool is_projected = cf::is_projection(mapping);
  if (!is_rotated && !is_projected && !EQUAL(mapping.c_str(), "latitude_longitude")) {
    throw Error("grid_mapping_name is unknown: " + mapping);
  }
  Crs crs = cf::read_geographic_crs(attributes);
  const std::vector<double> shift = read_shift(attributes, crs);
  if (is_projected) crs = cf::read_projection(values, crs, linear_unit);
  if (is_rotated) {
    check_crs(crs.SetDerivedGeogCRSWithPoleRotationNetCDFCFConvention(
        kRotatedMapping, attributes.required(kPoleLatitude), attributes.required(kPoleLongitude),
        attributes.number(kGridLongitude).value_or(0.0)));
  }
  if (!shift.empty()) {
    check_crs(crs.SetTOWGS84(shift[0], shift[1], shift[2], shift[3], shift[4], shift[5], shift[6]));
  }
  return crs;
}

// Reduces a CRS to its projection: removes datum, names and the order of axes.
bool keep_projection(Crs& crs) {
  Crs wgs84;
  wgs84.SetWellKnownGeogCS("WGS84");
  return crs.CopyGeogCSFrom(&wgs84) == OGRERR_NONE &&
         crs.importFromProj4(proj4_text(crs).c_str()) == OGRERR_NONE;
}

// Returns true if reading `attributes` gives the projection of `crs`.
bool is_stated_by(const Json& attributes, Crs crs) {
  std::string problem;
  const auto read_back = crs_from_grid_mapping(attributes, linear_unit(crs), &problem);
  // The order of axes, and of the data's, is not part of it.
  const char* const options[] = {"CRITERION=EQUIVALENT", "IGNORE_DATA_AXIS_TO_SRS_AXIS_MAPPING=YES",
                                 nullptr};
  return read_back && keep_projection(*read_back) && keep_projection(crs) &&
         read_back->IsSame(&crs, options) != 0;
}

// Returns whether CF can express the projection.
bool write_projection(Json& attributes, const Crs& crs, const Json& projjson) {
  const cf::Projection* projection = cf::find_projection(projjson);
  if (projection == nullptr) return false;
  attributes["grid_mapping_name"] = projection->grid_mapping;
  cf::write_name(attributes, "projected_crs_name", &projjson);
  cf::write_datum(attributes, crs, projjson);
  cf::write_parameters(attributes, *projection, projjson, crs.GetLinearUnits());
  return is_stated_by(attributes, crs);
}

bool write_rotated_pole(Json& attributes, const Crs& crs, const Json& projjson) {
  const Json& conversion = projjson["conversion"];
  if (conversion["method"]["name"] != kRotatedMethod) return false;
  attributes["grid_mapping_name"] = kRotatedMapping;
  cf::write_datum(attributes, crs, projjson);
  for (const Json& given : conversion["parameters"]) {
    for (const auto& [attribute, name] : kRotatedParameters) {
      if (given["name"] == name) attributes[attribute] = given["value"];
    }
  }
  return true;
}

// Returns whether CF has parameters for `crs`, which is horizontal and has no shift to WGS 84.
bool write_mapping(Json& attributes, const Crs& crs, const Json& projjson) {
  if (crs.IsProjected()) return write_projection(attributes, crs, projjson);
  if (crs.IsDerivedGeographic()) return write_rotated_pole(attributes, crs, projjson);
  if (!crs.IsGeographic()) return false;
  attributes["grid_mapping_name"] = "latitude_longitude";
  cf::write_datum(attributes, crs, projjson);
  return true;
}

// An empty object when CF has no parameters for `crs`.
Json parameters_of(Crs crs) {
  if (crs.IsCompound()) crs.StripVertical();
  if (crs.GetAxesCount() == 3) crs.DemoteTo2D(nullptr);
  Json projjson = export_projjson(crs);
  double shift[7];
  const bool is_shifted = crs.GetTOWGS84(shift) == OGRERR_NONE;
  if (const Json* source = find_member(projjson, "source_crs")) {
    projjson = Json(*source);
    const auto unshifted = import_crs(projjson);
    if (!unshifted) return Json::object();
    crs = *unshifted;
  }
  Json attributes = Json::object();
  if (!write_mapping(attributes, crs, projjson)) return Json::object();
  if (is_shifted) attributes["towgs84"] = shift;
  return attributes;
}

}  // namespace

std::shared_ptr<OGRSpatialReference> crs_from_grid_mapping(const zarrcore::Json& attributes,
                                                           const std::string& linear_unit,
                                                           std::string* problem) {
  const QuietErrors quiet;
  std::string context;
  const auto import = [&](const char* key) -> std::shared_ptr<Crs> {
    const Json* value = find_member(attributes, key);
    if (value != nullptr && value->is_array() && value->size() == 1) value = &value->front();
    if (value == nullptr || value->is_null()) return nullptr;
    const std::string* text = zarrcore::as_string(*value);
    if (text != nullptr && text->empty()) return nullptr;
    const bool is_code = text != nullptr && zarrcore::parse_digits(*text, 10);
    auto crs = is_code ? import_crs("EPSG:" + *text) : import_crs(*value);
    if (!crs) context += std::string(key) + " is not understood, and ";
    return crs;
  };
  for (const char* key : cf::kWktAttributes) {
    if (auto crs = import(key)) return crs;
  }
  CPLErrorReset();
  std::string reason;
  try {
    return std::make_shared<Crs>(crs_from_parameters(attributes, linear_unit));
  } catch (const Error& error) {
    reason = error.what();
  }
  for (const char* key : cf::kCrsAttributes) {
    if (auto crs = import(key)) return crs;
  }
  *problem = context + reason;
  return nullptr;
}

Json grid_mapping_attributes(const OGRSpatialReference& crs) {
  Json attributes = {{"crs_wkt", export_wkt(crs)}};
  const QuietErrors quiet;
  attributes.update(parameters_of(crs));
  return attributes;
}

std::string linear_unit(const OGRSpatialReference& crs) {
  return cf::format_linear_unit(crs.GetLinearUnits());
}

}  // namespace gdal_zarr
