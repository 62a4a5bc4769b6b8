// Copying the values of any array of GDAL into an array of ours.
#pragma once

#include <gdal_priv.h>

#include "driver/multidim/array.h"

namespace gdal_zarr {

// Whether copy_values() can copy them: both have the same shape, which is not empty, and the
// elements of the source are bytes without pointers.
bool can_copy_values(const GDALMDArray& source, const Array& target);

// Reads each chunk of the source once, or nearly so, and writes each chunk or shard of the target
// once, in at most half of GDAL's block cache (GDAL_CACHEMAX). Where that memory does not allow
// both, values are kept in a temporary file in between. The next part is read while one is written.
// `progress` gets 0 to 1. Returns false after a CE_Failure, or when progress stops it; throws
// zarrcore::Error.
bool copy_values(const GDALMDArray& source, Array& target, GDALProgressFunc progress, void* data);

}  // namespace gdal_zarr
