// The projections of CF's grid mappings (CF conventions, appendix F) as PROJ and EPSG know them:
// one table, by which projection.cpp reads attributes and writes them. To add a projection, add a
// row.
#pragma once

#include <cstdint>
#include <span>

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
  const char* attribute = nullptr;  // null after the last parameter of a projection
  ProjName proj = {};
  Quantity quantity = {};
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
  Parameter parameters[8];
};

std::span<const Projection> projections();

}  // namespace gdal_zarr::cf
