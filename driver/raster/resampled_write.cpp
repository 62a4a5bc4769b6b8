#include "driver/raster/resampled_write.h"

#include <algorithm>
#include <cstring>

#include "driver/gdal/error_guard.h"

namespace gdal_zarr {
namespace {

// The rows of a window that are written at a time have at most so many bytes.
constexpr std::uint64_t kMaxStripBytes = std::uint64_t{64} << 20;

// For each pixel of a window, the pixel of the buffer that contains its upper left corner.
std::vector<std::ptrdiff_t> containing_pixels(std::uint64_t count, int buffer_count) {
  std::vector<std::ptrdiff_t> nearest(count);
  const double step = buffer_count / static_cast<double>(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto pixel = static_cast<std::ptrdiff_t>(static_cast<double>(i) * step + 1e-10);
    nearest[i] = std::min<std::ptrdiff_t>(pixel, buffer_count - 1);
  }
  return nearest;
}

}  // namespace

bool write_resampled(const RasterView& view, const RasterRequest& request,
                     std::span<const int> bands, int buffer_columns, int buffer_rows) {
  return guarded(false, [&] {
    const auto columns = containing_pixels(request.columns, buffer_columns);
    const auto rows = containing_pixels(request.rows, buffer_rows);
    const auto pixel = static_cast<std::size_t>(GDALGetDataTypeSizeBytes(request.type));
    const std::size_t row_bytes = columns.size() * pixel;
    // Strips of whole rows of blocks, so that chunks are written as a whole.
    const auto block_rows = static_cast<std::uint64_t>(view.block_size().second);
    std::uint64_t strip_rows =
        std::max<std::uint64_t>(1, kMaxStripBytes / (row_bytes * bands.size()));
    if (strip_rows > block_rows) strip_rows -= strip_rows % block_rows;
    std::vector<std::byte> strip;
    for (std::uint64_t first = 0; first < rows.size();) {
      const std::uint64_t next_block = strip_rows - (request.y + first) % strip_rows;
      const std::uint64_t count = std::min<std::uint64_t>(next_block, rows.size() - first);
      strip.resize(row_bytes * count * bands.size());
      std::byte* target = strip.data();
      for (std::size_t band = 0; band < bands.size(); ++band) {
        for (std::uint64_t row = first; row < first + count; ++row) {
          const std::byte* source = static_cast<const std::byte*>(request.buffer) +
                                    static_cast<std::ptrdiff_t>(band) * request.band_space +
                                    rows[row] * request.line_space;
          for (const std::ptrdiff_t column : columns) {
            std::memcpy(target, source + column * request.pixel_space, pixel);
            target += pixel;
          }
        }
      }
      RasterRequest part = request;
      part.x_step = part.y_step = 1;
      part.y = request.y + first;
      part.rows = count;
      part.buffer = strip.data();
      part.pixel_space = static_cast<std::ptrdiff_t>(pixel);
      part.line_space = static_cast<std::ptrdiff_t>(row_bytes);
      part.band_space = static_cast<std::ptrdiff_t>(row_bytes * count);
      part.progress = nullptr;
      if (!view.transfer(GF_Write, part, bands)) return false;
      first += count;
      const double done = static_cast<double>(first) / static_cast<double>(rows.size());
      if (!view.goes_on(request, done)) return false;
    }
    return true;
  });
}

}  // namespace gdal_zarr
