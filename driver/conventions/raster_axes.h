// Which dimensions of an array are X and Y, and whether these can be axes of a map.
#pragma once

#include "driver/conventions/evidence.h"

namespace gdal_zarr {

// The dimensions X and Y of an array of at least two: those that `spatial:dimensions` names, else
// those whose coordinates or names are of X and Y, else those of the shape that the convention
// states, else the last two.
RasterAxes find_raster_axes(const Evidence& evidence);

// Whether the first two of these tell which dimensions are X and Y.
bool knows_raster_axes(const Evidence& evidence);

// Whether CF's `featureType` says that arrays hold points, profiles or lines of them: neither grids
// nor swaths.
bool has_discrete_features(const Evidence& evidence);

// Not if one of them is known to be something else, such as time or depth.
bool are_on_the_map(const Evidence& evidence, const RasterAxes& axes);

}  // namespace gdal_zarr
