// Which axis a dimension is, by attributes of its indexing variable, and else by well-known names
// (CF conventions, chapter 4,
// https://cfconventions.org/cf-conventions/cf-conventions.html#coordinate-types).
//
//   standard_name = "latitude"   units = "degrees_north"
//   axis = "Z"                   positive = "up"
#pragma once

#include <string>

#include "zarrcore/base/json.h"

namespace gdal_zarr {

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

}  // namespace gdal_zarr
