// Where the blocks of an array of another format are (HDF5, netCDF, VRT), as GDAL 3.12 and later
// tell it.
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
  // The block at a position in the grid of chunks; empty if it is missing, or cannot be a chunk.
  // Throws zarrcore::Error when decoding it does not give what GDAL reads.
  std::function<std::optional<Reference>(std::span<const std::uint64_t> position)> find;
  // If it is set, it is used instead: calls the function for each block that exists, with nullopt
  // for those that cannot be chunks, until it returns false. Other chunks are missing.
  using Visit = std::function<bool(std::span<const std::uint64_t>, std::optional<Reference>)>;
  std::function<void(const Visit&)> visit = {};
};

// Throws zarrcore::Error, which says why, when the array has no blocks or when their encoding is
// not certain. GDAL tells which filters a block has passed, but neither in which order nor all that
// the file says of it, so that each block is decoded and compared with what GDAL reads. The array
// must outlive the result.
ArrayBlocks find_array_blocks(const GDALMDArray& array);

}  // namespace gdal_zarr
