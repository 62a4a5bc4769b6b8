// Finding the position of a raster: its geotransform, or the arrays that hold the longitude and
// latitude of its pixels.
#pragma once

#include <cpl_string.h>

#include <optional>
#include <string>
#include <vector>

#include "driver/conventions/geotransform.h"
#include "driver/multidim/raster_view.h"

namespace gdal_zarr {

// In order: `spatial:transform` of the array, of its level in a pyramid, or of its group;
// `gdal:geotransform` of the array; the `GeoTransform` of its CF grid mapping, unless coordinates
// contradict it; evenly spaced coordinate variables; for a coarser level of a pyramid, the
// geotransform of the finest level.
std::optional<GeoTransform> find_geotransform(const RasterView& view);

// GDAL's AREA_OR_POINT by the `spatial:` convention: "Area", "Point", or empty if it says nothing.
std::string find_area_or_point(const RasterView& view);

// The positions along a dimension that its indexing variable gives, unpacked; empty when it has no
// such variable of numbers, or when that is too long.
std::vector<double> read_coordinates(const GDALDimension& dimension);

// The geotransform of a raster of `columns` × `rows` that covers what one of `fine_columns` ×
// `fine_rows` covers.
GeoTransform coarser_geotransform(const GeoTransform& fine, int fine_columns, int fine_rows,
                                  int columns, int rows);

// The metadata domain GEOLOCATION of a curvilinear grid, whose `coordinates` name arrays of
// longitude and latitude over its X and Y; empty for other grids. `crs` is that of the array,
// or null.
CPLStringList find_geolocation(const RasterView& view, const OGRSpatialReference* crs);

}  // namespace gdal_zarr
