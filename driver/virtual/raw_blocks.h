// Where the blocks of an array are, as GDAL 3.12 and later report it, and the headers of netCDF-3
// files.
#pragma once

#include <gdal_priv.h>

#include <optional>

#include "driver/virtual/array_blocks.h"

namespace gdal_zarr {

// Blocks of which it is not certain that they are what GDAL reads.
struct RawBlocks {
  BlockLayout layout;
  // The block at a position in the grid of chunks; nullopt if there is none, and without target and
  // value if it is encoded in another way.
  std::function<std::optional<Reference>(std::span<const std::uint64_t> position)> find;
};

// Of an array that is stored as one part of a file, in C order: parts of up to 4 MiB, along the
// first dimension that has them. With `record_step`, each index of the first dimension has such a
// part, which begins so many bytes after the one before; `whole` is the first.
RawBlocks contiguous_blocks(const zarrcore::Shape& shape, const zarrcore::DataType& type,
                            const char* endian, const Reference& whole,
                            std::optional<std::uint64_t> record_step = {});

// The blocks of an HDF5, netCDF-4 or VRT array. Of HDF5, GDAL counts the blocks that are stored
// instead of using their positions: after a missing one, it reports the places of others.
// Throws zarrcore::Error when GDAL does not tell where blocks are, or no codec decodes them. The
// array must outlive the result.
RawBlocks find_raw_blocks(const GDALMDArray& array, const zarrcore::Shape& shape,
                          const zarrcore::DataType& type);

// The same in a netCDF-3 file: the classic format, with 64-bit offsets, and CDF-5. Nullopt if the
// array is not in such a file. A variable with the unlimited dimension has a block for each record.
// Throws zarrcore::Error when the file's header is not valid.
std::optional<RawBlocks> find_netcdf3_blocks(const GDALMDArray& array, const zarrcore::Shape& shape,
                                             const zarrcore::DataType& type);

// Calls `use` for the positions of the chunks of an array, in C order, until it returns true.
void for_chunks(const zarrcore::Shape& shape, const zarrcore::Shape& chunk_shape,
                const std::function<bool(std::span<const std::uint64_t>)>& use);

}  // namespace gdal_zarr
