// Copying the values of any array of GDAL into an array of ours.
#pragma once

#include <gdal_priv.h>

#include "driver/multidim/array.h"

namespace gdal_zarr {

// Whether both have the same shape, so that copy_values() can copy them.
bool can_copy_values(const GDALMDArray& source, const Array& target);

// Reads each chunk of the source once, or nearly so, and writes each chunk or shard of the target
// once. The values that are in memory at a time take at most ZARR_COPY_MEMORY bytes, by default
// half of GDAL's block cache. Where that is too little, they are kept in a temporary file in
// between. The next part is read while one is written. `progress` gets 0 to 1. Returns false after
// a CE_Failure, also when `progress` stops it; throws zarrcore::Error.
bool copy_values(const GDALMDArray& source, Array& target, GDALProgressFunc progress, void* data);

}  // namespace gdal_zarr
