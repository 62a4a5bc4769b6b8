// Where the blocks of an array of another format are: HDF5, netCDF-4 and VRT, as GDAL 3.12 and
// later report it (raw_blocks.cpp), and netCDF-3 (netcdf3_blocks.cpp). array_blocks.cpp checks
// them.
#pragma once

#include <gdal_priv.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "driver/virtual/raster_blocks.h"

namespace gdal_zarr {

struct ArrayBlocks {
  BlockLayout layout;
  // Calls the function for the blocks of an array, with their positions in the grid of chunks,
  // until it returns false: with a reference, or with nullopt for a block whose elements are to be
  // copied. Other chunks are missing.
  using Visit = std::function<bool(std::span<const std::uint64_t>, std::optional<Reference>)>;
  std::function<void(const Visit&)> visit;
};

// Throws zarrcore::Error, which says why, when the array has no blocks or when their encoding is
// not certain. GDAL tells which filters a block has passed, but neither in which order nor all that
// the file says of it, so that each block is decoded and compared with what GDAL reads. A block
// that differs is an error of visit(), or is copied with `copies_others`; one of equal elements,
// which may not be stored, is always copied. The array must outlive the result.
ArrayBlocks find_array_blocks(const GDALMDArray& array, bool copies_others);

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
