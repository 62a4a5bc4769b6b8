// The attributes that users see: without those that GDAL's objects express in other ways, and that
// would be wrong in a copy of a part of the array.
#pragma once

#include "zarrcore/base/json.h"

namespace gdal_zarr {

// An attribute of a raster's arrays: a list of metadata items, "NAME=value", whose names have a
// meaning of their own as attributes.
inline constexpr const char* kPlainMetadata = "gdal:metadata";

// `attributes` without those of CRS, geotransform and overviews (`_CRS` and a `crs` that
// repeats it, `proj:…`, `spatial:…` except `spatial:registration`, `multiscales`, the list of
// conventions, plain metadata), and without netCDF-C's own.
zarrcore::Json shown_attributes(const zarrcore::Json& attributes);

}  // namespace gdal_zarr
