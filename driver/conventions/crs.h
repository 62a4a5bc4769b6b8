// Finding the CRS of an array: the attribute `_CRS` (GDAL's own: `url`, else `wkt`, else
// `projjson`), else CF's `grid_mapping`.
#pragma once

#include <ogr_spatialref.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "zarrcore/base/json.h"

namespace gdal_zarr {

// The attributes of the variable `name`, searched from the array's group upwards; null JSON when
// there is none.
using FindVariable = std::function<zarrcore::Json(const std::string& name)>;

// The variable that the attribute `grid_mapping` names; empty when there is no such attribute.
std::string grid_mapping_variable(const zarrcore::Json& attributes);

// Null when the attributes name no CRS. When they name one that cannot be understood, warns and
// returns null. The axis mapping is not set. `linear_unit` is that of the projected coordinates.
std::shared_ptr<OGRSpatialReference> find_crs(const zarrcore::Json& attributes,
                                              const FindVariable& find_variable,
                                              const std::string& linear_unit);

// Sets the data axis mapping of `crs`: its easting or longitude is data axis `x`, its northing or
// latitude `y`, both counted from 1.
void set_axis_mapping(OGRSpatialReference& crs, int x, int y);

}  // namespace gdal_zarr
