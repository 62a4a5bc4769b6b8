// Rasters side by side in the grid of a larger one.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "driver/virtual/raster_blocks.h"

namespace gdal_zarr {

// Where a file is in the mosaic, in pixels.
struct Placement {
  std::string file;
  std::uint64_t x = 0;
  std::uint64_t y = 0;
  std::uint64_t columns = 0;
  std::uint64_t rows = 0;
};

// Throws zarrcore::Error unless the blocks of the file are blocks of the mosaic.
void check_alignment(const Placement& source, const RasterBlocks& mosaic);

// Throws zarrcore::Error unless blocks have the shape and encoding of those of the mosaic.
void check_alike(const RasterBlocks& blocks, const RasterBlocks& mosaic);

// Calls `use(row, column)` for the blocks of the mosaic that a source touches, until it returns
// false.
template <typename Use>
bool for_touched(const Placement& source, const RasterBlocks& mosaic, const Use& use) {
  const std::uint64_t height = mosaic.block_rows;
  const std::uint64_t width = mosaic.block_columns;
  for (auto row = source.y / height; row * height < source.y + source.rows; ++row) {
    for (auto column = source.x / width; column * width < source.x + source.columns; ++column) {
      if (!use(row, column)) return false;
    }
  }
  return true;
}

// Throws zarrcore::Error if two of them overlap.
void check_overlaps(std::span<const Placement* const> sources);

}  // namespace gdal_zarr
