// The inverse of crs_from_grid_mapping(): GDAL's setters there, its getters here.
#include <cpl_error.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "driver/conventions/cf/attributes.h"
#include "driver/conventions/cf/grid_mapping.h"
#include "driver/conventions/cf/names.h"
#include "driver/gdal/crs_export.h"
#include "driver/gdal/crs_import.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

using Crs = OGRSpatialReference;
using cf::kCentralMeridian;
using cf::kOriginLatitude;
using cf::kOriginLongitude;
using cf::kOriginScale;
using zarrcore::find_member;
using zarrcore::Json;

constexpr const char* kParallel = "standard_parallel";
constexpr const char* kHeight = "perspective_point_height";

struct Parameter {
  const char* attribute = nullptr;
  const char* name = nullptr;  // GDAL's
};

struct WrittenProjection {
  const char* grid_mapping;
  const char* name;  // GDAL's
  // Two parameters of one attribute are a list. Others than these, false easting and northing have
  // to be at their defaults.
  Parameter parameters[5];
};

constexpr WrittenProjection kWrittenProjections[] = {
    {"albers_conical_equal_area",
     SRS_PT_ALBERS_CONIC_EQUAL_AREA,
     {{kParallel, SRS_PP_STANDARD_PARALLEL_1},
      {kParallel, SRS_PP_STANDARD_PARALLEL_2},
      {kOriginLatitude, SRS_PP_LATITUDE_OF_CENTER},
      {kCentralMeridian, SRS_PP_LONGITUDE_OF_CENTER}}},
    {"azimuthal_equidistant",
     SRS_PT_AZIMUTHAL_EQUIDISTANT,
     {{kOriginLatitude, SRS_PP_LATITUDE_OF_CENTER},
      {kOriginLongitude, SRS_PP_LONGITUDE_OF_CENTER}}},
    {"geostationary",
     SRS_PT_GEOSTATIONARY_SATELLITE,
     {{kOriginLongitude, SRS_PP_CENTRAL_MERIDIAN}, {kHeight, SRS_PP_SATELLITE_HEIGHT}}},
    {"lambert_azimuthal_equal_area",
     SRS_PT_LAMBERT_AZIMUTHAL_EQUAL_AREA,
     {{kOriginLatitude, SRS_PP_LATITUDE_OF_CENTER},
      {kOriginLongitude, SRS_PP_LONGITUDE_OF_CENTER}}},
    {"lambert_conformal_conic",
     SRS_PT_LAMBERT_CONFORMAL_CONIC_1SP,
     {{kParallel, SRS_PP_LATITUDE_OF_ORIGIN},
      {kOriginLatitude, SRS_PP_LATITUDE_OF_ORIGIN},
      {kCentralMeridian, SRS_PP_CENTRAL_MERIDIAN},
      {kOriginScale, SRS_PP_SCALE_FACTOR}}},
    {"lambert_conformal_conic",
     SRS_PT_LAMBERT_CONFORMAL_CONIC_2SP,
     {{kParallel, SRS_PP_STANDARD_PARALLEL_1},
      {kParallel, SRS_PP_STANDARD_PARALLEL_2},
      {kOriginLatitude, SRS_PP_LATITUDE_OF_ORIGIN},
      {kCentralMeridian, SRS_PP_CENTRAL_MERIDIAN}}},
    {"lambert_cylindrical_equal_area",
     SRS_PT_CYLINDRICAL_EQUAL_AREA,
     {{kParallel, SRS_PP_STANDARD_PARALLEL_1}, {kCentralMeridian, SRS_PP_CENTRAL_MERIDIAN}}},
    {"mercator",
     SRS_PT_MERCATOR_1SP,
     {{kOriginLongitude, SRS_PP_CENTRAL_MERIDIAN}, {kOriginScale, SRS_PP_SCALE_FACTOR}}},
    {"mercator",
     SRS_PT_MERCATOR_2SP,
     {{kParallel, SRS_PP_STANDARD_PARALLEL_1}, {kOriginLongitude, SRS_PP_CENTRAL_MERIDIAN}}},
    {"oblique_mercator",
     SRS_PT_HOTINE_OBLIQUE_MERCATOR_AZIMUTH_CENTER,
     {{"azimuth_of_central_line", SRS_PP_AZIMUTH},
      {kOriginLatitude, SRS_PP_LATITUDE_OF_CENTER},
      {kOriginLongitude, SRS_PP_LONGITUDE_OF_CENTER},
      {kOriginScale, SRS_PP_SCALE_FACTOR}}},
    {"orthographic",
     SRS_PT_ORTHOGRAPHIC,
     {{kOriginLatitude, SRS_PP_LATITUDE_OF_ORIGIN}, {kOriginLongitude, SRS_PP_CENTRAL_MERIDIAN}}},
    {"polar_stereographic",
     SRS_PT_POLAR_STEREOGRAPHIC,
     {{"straight_vertical_longitude_from_pole", SRS_PP_CENTRAL_MERIDIAN}}},
    {"sinusoidal", SRS_PT_SINUSOIDAL, {{kOriginLongitude, SRS_PP_LONGITUDE_OF_CENTER}}},
    {"stereographic",
     SRS_PT_STEREOGRAPHIC,
     {{kOriginLatitude, SRS_PP_LATITUDE_OF_ORIGIN},
      {kOriginLongitude, SRS_PP_CENTRAL_MERIDIAN},
      {kOriginScale, SRS_PP_SCALE_FACTOR}}},
    {"transverse_mercator",
     SRS_PT_TRANSVERSE_MERCATOR,
     {{kOriginLatitude, SRS_PP_LATITUDE_OF_ORIGIN},
      {kCentralMeridian, SRS_PP_CENTRAL_MERIDIAN},
      {"scale_factor_at_central_meridian", SRS_PP_SCALE_FACTOR}}},
    {"vertical_perspective",
     "Vertical Perspective",
     {{kOriginLatitude, "Latitude of topocentric origin"},
      {kOriginLongitude, "Longitude of topocentric origin"},
      {kHeight, "Viewpoint height"}}},
};

// The CRS of the ground below one that is derived from it, as PROJJSON.
const Json& geodetic_crs(const Json& projjson) {
  const Json* crs = &projjson;
  while (true) {
    if (const Json* components = find_member(*crs, "components")) {
      crs = &components->front();
    } else if (const Json* base = find_member(*crs, "base_crs")) {
      crs = base;
    } else {
      return *crs;
    }
  }
}

// Sets a name, unless it only says that there is none.
void set_name(Json& attributes, const char* key, const Json* named) {
  const std::string* name = named != nullptr ? zarrcore::find_string(*named, "name") : nullptr;
  if (name == nullptr) return;
  attributes[key] = *name;
  if (cf::Attributes(attributes).name(key).empty()) attributes.erase(key);
}

void set_datum(Json& attributes, const Crs& crs, const Json& projjson) {
  const Json& geodetic = geodetic_crs(projjson);
  const Json* datum = find_member(geodetic, "datum");
  if (datum == nullptr) datum = find_member(geodetic, "datum_ensemble");
  set_name(attributes, "geographic_crs_name", &geodetic);
  set_name(attributes, "horizontal_datum_name", datum);
  if (datum != nullptr) {
    set_name(attributes, "reference_ellipsoid_name", find_member(*datum, "ellipsoid"));
  }
  attributes["semi_major_axis"] = crs.GetSemiMajor();
  attributes["semi_minor_axis"] = crs.GetSemiMinor();
  attributes["inverse_flattening"] = crs.GetInvFlattening();
  const char* meridian = nullptr;
  attributes["longitude_of_prime_meridian"] = crs.GetPrimeMeridian(&meridian);
  if (meridian != nullptr) attributes["prime_meridian_name"] = meridian;
}

double parameter(const Crs& crs, const Parameter& wanted) {
  const double own = crs.GetProjParm(wanted.name, 0.0);
  // GDAL converts angles, but only some of the lengths.
  return wanted.attribute == kHeight ? own * crs.GetLinearUnits()
                                     : crs.GetNormProjParm(wanted.name, 0.0);
}

void add_number(Json& attributes, const char* key, double number) {
  if (Json& value = attributes[key]; value.is_null()) {
    value = number;
  } else {
    value = {value, number};
  }
}

// What the table does not say.
void set_pole(Json& attributes, const Crs& crs) {
  const double parallel = crs.GetNormProjParm(SRS_PP_LATITUDE_OF_ORIGIN, 90.0);
  attributes[kOriginLatitude] = std::copysign(90.0, parallel);
  if (std::abs(parallel) == 90) {
    attributes[kOriginScale] = crs.GetNormProjParm(SRS_PP_SCALE_FACTOR, 1.0);
  } else {
    attributes[kParallel] = parallel;
  }
}

void set_satellite(Json& attributes, const Json& projjson) {
  const bool sweeps_x =
      projjson["conversion"]["method"]["name"] == "Geostationary Satellite (Sweep X)";
  attributes[kOriginLatitude] = 0.0;
  attributes["sweep_angle_axis"] = sweeps_x ? "x" : "y";
}

// Two CRSs that have gone this way compare as the same if their projections do: it takes away
// datum, names and the order of axes.
bool keep_projection(Crs& crs) {
  Crs wgs84;
  wgs84.SetWellKnownGeogCS("WGS84");
  char* text = nullptr;
  const bool is_exported =
      crs.CopyGeogCSFrom(&wgs84) == OGRERR_NONE && crs.exportToProj4(&text) == OGRERR_NONE;
  const std::string copy = text != nullptr ? text : "";
  CPLFree(text);
  return is_exported && crs.importFromProj4(copy.c_str()) == OGRERR_NONE;
}

// Whether the parameters say what the projection of `crs` is.
bool is_told_by(const Json& attributes, Crs crs) {
  std::string problem;
  const auto told = crs_from_grid_mapping(attributes, linear_unit(crs), &problem);
  const char* const options[] = {"CRITERION=EQUIVALENT", nullptr};
  return told && keep_projection(*told) && keep_projection(crs) && told->IsSame(&crs, options) != 0;
}

bool set_projection(Json& attributes, const Crs& crs, const Json& projjson) {
  const char* name = crs.GetAttrValue("PROJECTION");
  if (name == nullptr) return false;
  const auto* projection =
      std::find_if(std::begin(kWrittenProjections), std::end(kWrittenProjections),
                   [&](const WrittenProjection& candidate) { return EQUAL(candidate.name, name); });
  if (projection == std::end(kWrittenProjections)) return false;
  attributes["grid_mapping_name"] = projection->grid_mapping;
  set_name(attributes, "projected_crs_name", &projjson);
  set_datum(attributes, crs, projjson);
  for (const Parameter& row : projection->parameters) {
    if (row.attribute != nullptr) add_number(attributes, row.attribute, parameter(crs, row));
  }
  if (EQUAL(name, SRS_PT_POLAR_STEREOGRAPHIC)) set_pole(attributes, crs);
  if (EQUAL(name, SRS_PT_GEOSTATIONARY_SATELLITE)) set_satellite(attributes, projjson);
  for (const char* shift : {SRS_PP_FALSE_EASTING, SRS_PP_FALSE_NORTHING}) {
    attributes[shift] = crs.GetProjParm(shift, 0.0);
  }
  return is_told_by(attributes, crs);
}

bool set_rotated_pole(Json& attributes, const Crs& crs, const Json& projjson) {
  const Json& conversion = projjson["conversion"];
  if (conversion["method"]["name"] != "Pole rotation (netCDF CF convention)") return false;
  attributes["grid_mapping_name"] = "rotated_latitude_longitude";
  set_datum(attributes, crs, projjson);
  constexpr Parameter kAngles[] = {
      {"grid_north_pole_latitude", "Grid north pole latitude (netCDF CF convention)"},
      {"grid_north_pole_longitude", "Grid north pole longitude (netCDF CF convention)"},
      {"north_pole_grid_longitude", "North pole grid longitude (netCDF CF convention)"}};
  for (const Json& given : conversion["parameters"]) {
    for (const Parameter& angle : kAngles) {
      if (given["name"] == angle.name) attributes[angle.attribute] = given["value"];
    }
  }
  return true;
}

// False when CF has no parameters that would say what `crs` is, a horizontal one without a shift.
bool set_mapping(Json& attributes, const Crs& crs, const Json& projjson) {
  if (crs.IsProjected()) return set_projection(attributes, crs, projjson);
  if (crs.IsDerivedGeographic()) return set_rotated_pole(attributes, crs, projjson);
  if (!crs.IsGeographic()) return false;
  attributes["grid_mapping_name"] = "latitude_longitude";
  set_datum(attributes, crs, projjson);
  return true;
}

// An empty object when CF has no parameters that would say what `crs` is.
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
  if (!set_mapping(attributes, crs, projjson)) return Json::object();
  if (is_shifted) attributes["towgs84"] = shift;
  return attributes;
}

}  // namespace

std::string linear_unit(const OGRSpatialReference& crs) {
  const double metres = crs.GetLinearUnits();
  const auto* known = std::find_if(
      std::begin(cf::kLengths), std::end(cf::kLengths),
      [&](const cf::UnitWord& unit) { return std::abs(metres / unit.size - 1) < 1e-12; });
  return known != std::end(cf::kLengths) ? known->word : zarrcore::dump_json(metres) + " m";
}

Json grid_mapping_attributes(const OGRSpatialReference& crs) {
  Json attributes = {{"crs_wkt", export_wkt(crs)}};
  const CPLErrorStateBackuper error_state;
  const CPLErrorHandlerPusher quiet(CPLQuietErrorHandler);
  attributes.update(parameters_of(crs));
  return attributes;
}

}  // namespace gdal_zarr
