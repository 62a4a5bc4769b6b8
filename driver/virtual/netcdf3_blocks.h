// Where the values of netCDF-3 files are: the classic format, with 64-bit offsets, and CDF-5.
#pragma once

#include <gdal_priv.h>

#include <optional>

#include "driver/virtual/raw_blocks.h"

namespace gdal_zarr {

// Nullopt if the array is not in such a file. A variable with the unlimited dimension has a block
// for each record. Throws zarrcore::Error when the file's header is not valid.
std::optional<RawBlocks> find_netcdf3_blocks(const GDALMDArray& array, const zarrcore::Shape& shape,
                                             const zarrcore::DataType& type);

}  // namespace gdal_zarr
