// Statements of metadata about a dimension: which axis it is, and how far one step along it is.
#pragma once

#include <ogr_spatialref.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "zarrcore/base/json.h"

namespace gdal_zarr {

// Which axis a dimension is, by attributes of its indexing variable, and else by well-known names
// (CF conventions, chapter 4,
// https://cfconventions.org/cf-conventions/cf-conventions.html#coordinate-types).
//
//   standard_name = "latitude"   units = "degrees_north"
//   axis = "Z"                   positive = "up"

// GDAL's words for a dimension (GDAL_DIM_TYPE_…, "EAST"…); empty if unknown.
struct AxisRole {
  std::string type;
  std::string direction;
};

// `attributes` are the indexing variable's; an empty object if there is none.
AxisRole find_axis_role(const std::string& dimension_name, const zarrcore::Json& attributes);

// The attributes that an indexing variable needs besides its name for find_axis_role() to give
// `role`.
zarrcore::Json axis_attributes(const std::string& dimension_name, const AxisRole& role);

// The attributes of a coordinate variable of X, or of Y: `axis`, `long_name` and, if the CRS (may
// be null) implies them, `standard_name` and `units`.
zarrcore::Json coordinate_attributes(bool is_x, const OGRSpatialReference* crs);

// The units of dimensions as TensorStore writes them in Zarr v3: how far one step along a dimension
// is. Each is a multiplier and a base unit.
//
//   "dimension_units": ["4 nm", "nm", "", null]

struct DimensionUnit {
  double multiplier = 1;
  std::string base;  // empty for numbers without a unit
};

// One unit for each of `rank` dimensions, nullopt where the attribute states none; an empty list if
// the attribute is absent. Throws zarrcore::Error if the attribute has another form.
std::vector<std::optional<DimensionUnit>> dimension_units(const zarrcore::Json& array_attributes,
                                                          std::size_t rank);

}  // namespace gdal_zarr
