// The parts of a CF grid mapping (CF conventions, appendix F,
// https://cfconventions.org/cf-conventions/cf-conventions.html#appendix-grid-mappings): its
// geographic CRS, and its projection.
//
//   grid_mapping_name = "lambert_conformal_conic"   standard_parallel = 25.0
//   longitude_of_central_meridian = 265.0           latitude_of_projection_origin = 25.0
//   geographic_crs_name = "NAD83"                   reference_ellipsoid_name = "GRS 1980"
//   semi_major_axis = 6378137.0                     inverse_flattening = 298.257222101
#pragma once

#include <ogr_spatialref.h>

#include <cstdint>
#include <span>
#include <string>

#include "driver/conventions/cf/attributes.h"
#include "zarrcore/base/json.h"

namespace gdal_zarr::cf {

// CF's attributes.
inline constexpr const char* kAzimuth = "azimuth_of_central_line";
inline constexpr const char* kCentralMeridian = "longitude_of_central_meridian";
inline constexpr const char* kEasting = "false_easting";
inline constexpr const char* kHeight = "perspective_point_height";
inline constexpr const char* kMeridianScale = "scale_factor_at_central_meridian";
inline constexpr const char* kNorthing = "false_northing";
inline constexpr const char* kOriginLatitude = "latitude_of_projection_origin";
inline constexpr const char* kOriginLongitude = "longitude_of_projection_origin";
inline constexpr const char* kOriginScale = "scale_factor_at_projection_origin";
inline constexpr const char* kParallel = "standard_parallel";
inline constexpr const char* kPoleLongitude = "straight_vertical_longitude_from_pole";
inline constexpr const char* kSweepAxis = "sweep_angle_axis";

// The name of a method or a parameter in PROJ, and its code in the EPSG data set (0: it has none).
struct ProjName {
  const char* name;
  int code;
};

// How CF's attribute gives a parameter.
enum class Quantity : std::uint8_t {
  angle,     // in degrees, required
  scale,     // positive; 1 if the attribute is absent
  distance,  // in the unit of the coordinates; 0 if the attribute is absent
  height,    // in metres, positive, required
};

// In place of an attribute: the parameter is zero in all grid mappings.
inline constexpr const char* kAlwaysZero = "";

struct Parameter {
  const char* attribute;
  ProjName proj;
  Quantity quantity;
};

// Some grid mappings are several methods of PROJ.
enum class Variant : std::uint8_t {
  only,
  at_origin,   // the standard parallel passes through the origin, or the scale there is stated
  off_origin,  // it does not
  sweep_x,     // of a satellite's view
  sweep_y,
};

struct Projection {
  const char* grid_mapping;  // CF's name
  Variant variant;
  ProjName method;
  // All of the method's, in its order. Two parameters of one attribute are the elements of a list,
  // or both its only element.
  std::span<const Parameter> parameters;
};

// The projections of CF's grid mappings as PROJ and EPSG know them: one table, by which
// projection.cpp reads attributes and writes them. To add a projection, add a row.
std::span<const Projection> projections();

// Returns true if the table has this `grid_mapping_name`, spelled in any way.
bool is_projection(const std::string& grid_mapping);

// The projected CRS of `attributes`, which name a projection of the table, on `geographic`. Its
// unit is `linear_unit`; see linear_unit(). Throws zarrcore::Error on parameters that are missing
// or of the wrong kind.
OGRSpatialReference read_projection(const zarrcore::Json& attributes,
                                    const OGRSpatialReference& geographic,
                                    const std::string& linear_unit);

// The row for the method of a projected CRS, as PROJJSON; null when CF has no such projection.
const Projection* find_projection(const zarrcore::Json& projjson);

// Sets the parameters of a CRS of this projection, as PROJJSON; distances in units of `metres`.
// Parameters that the table does not have are left out.
void write_parameters(zarrcore::Json& attributes, const Projection& projection,
                      const zarrcore::Json& projjson, double metres);

// The geographic CRS of names, ellipsoid and prime meridian. Attributes that state neither a datum
// nor an ellipsoid mean WGS 84. Throws zarrcore::Error on attributes that contradict each other,
// and on names that are unknown.
OGRSpatialReference read_geographic_crs(const Attributes& attributes);

// Sets `key` to the name of `named`, a PROJJSON object or null, unless it has none or a placeholder
// such as "unknown".
void write_name(zarrcore::Json& attributes, const char* key, const zarrcore::Json* named);

// Sets the attributes that read_geographic_crs() reads. `projjson` is `crs` as PROJJSON.
void write_datum(zarrcore::Json& attributes, const OGRSpatialReference& crs,
                 const zarrcore::Json& projjson);

}  // namespace gdal_zarr::cf
