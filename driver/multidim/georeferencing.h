// The position of a raster, as find_position() decides it from the evidence in the store.
#pragma once

#include <cpl_string.h>

#include <optional>
#include <string>
#include <vector>

#include "driver/conventions/position.h"
#include "driver/multidim/raster_view.h"

namespace gdal_zarr {

// Neither transform nor geolocation for a raster of fewer than two dimensions.
Position find_position(const RasterView& view);

// GDAL's metadata domain GEOLOCATION; empty without a geolocation. Packed variables are named as
// virtual rasters that unpack them.
CPLStringList geolocation_domain(const RasterView& view, const Position& position);

// The ground control points of Sentinel-1 products (EOPF): of an array below `measurements`, those
// in the group `conditions/gcp` beside it, in longitudes and latitudes of WGS 84. Empty without
// any.
std::vector<GroundControlPoint> read_gcp_grid(const Array& array);

// What CRS and position were taken from; empty without both.
CPLStringList source_domain(const Position& position);

}  // namespace gdal_zarr
