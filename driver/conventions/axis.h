// Which axis a dimension is, from the attributes of its indexing variable: CF `standard_name`,
// `units`, `axis` and `positive`, and at last from well-known names.
#pragma once

#include <string>

#include "zarrcore/base/json.h"

namespace gdal_zarr {

// GDAL's words for a dimension (GDAL_DIM_TYPE_…, "EAST"…); empty when nothing is known.
struct AxisRole {
  std::string type;
  std::string direction;
};

// `attributes` are the indexing variable's; an empty object when there is none.
AxisRole find_axis_role(const std::string& dimension_name, const zarrcore::Json& attributes);

// The attributes that an indexing variable needs besides its name for find_axis_role() to give
// `role`.
zarrcore::Json axis_attributes(const std::string& dimension_name, const AxisRole& role);

}  // namespace gdal_zarr
