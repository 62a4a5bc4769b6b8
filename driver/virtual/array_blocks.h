// Where the blocks of an array of another format are (HDF5, netCDF, VRT), as GDAL 3.12 and later
// report it.
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

}  // namespace gdal_zarr
