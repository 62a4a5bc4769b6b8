// Where the blocks of an array are, as GDAL 3.12 and later tell it.
#pragma once

#include <gdal_priv.h>

#include "driver/virtual/array_blocks.h"

namespace gdal_zarr {

// Of an array that is stored as one part of a file, in C order: parts along its first dimension.
ArrayBlocks contiguous_blocks(const zarrcore::Shape& shape, const zarrcore::DataType& type,
                              const char* endian, Reference whole);

// The blocks of an HDF5, netCDF-4 or VRT array. GDAL tells which filters a block has passed, but
// not all that the file says of them: what is found may not be right. Throws zarrcore::Error when
// GDAL does not tell where blocks are, or no codec decodes them. The array must outlive the result.
ArrayBlocks find_raw_blocks(const GDALMDArray& array, const zarrcore::Shape& shape,
                            const zarrcore::DataType& type);

// Calls `use` for the first chunks of an array until it returns true.
void for_first_chunks(const zarrcore::Shape& shape, const zarrcore::Shape& chunk_shape,
                      const std::function<bool(std::span<const std::uint64_t>)>& use);

}  // namespace gdal_zarr
