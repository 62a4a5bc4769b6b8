// Reading a window to a smaller buffer by nearest neighbour.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace gdal_zarr {

// Pixels at a constant step, of a window and of the buffer they are read to.
struct PixelRun {
  std::uint64_t first = 0;  // in the raster
  std::uint64_t step = 1;
  std::uint64_t count = 0;
  std::uint64_t place = 0;  // of the first in the buffer
};

// Along one dimension, the pixels of a window of `length` pixels from `first` on that a buffer of
// `count` pixels gets, at most as many: those under the centres of its pixels. Nullopt where a
// centre is so close to the edge of a pixel that GDAL's rounding decides, and where there would be
// many runs.
std::optional<std::vector<PixelRun>> nearest_pixels(int first, int length, int count);

}  // namespace gdal_zarr
