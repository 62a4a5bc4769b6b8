// Writing the georeferencing of a raster to its store: attributes, coordinate variables, the grid
// mapping.
#pragma once

#include "driver/conventions/geotransform.h"
#include "driver/multidim/raster_view.h"

namespace gdal_zarr {

// In the convention of the arrays. `crs` may be null. Throws zarrcore::Error when the store cannot
// be written or cannot express it.
void store_georeferencing(const RasterView& view, const std::optional<GeoTransform>& transform,
                          const OGRSpatialReference* crs);

}  // namespace gdal_zarr
