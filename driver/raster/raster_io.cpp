// The read and write path of the classic API, from RasterIO() to a view of arrays
// (raster_view.cpp).
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>

#include "driver/gdal/messages.h"
#include "driver/raster/raster_band.h"
#include "driver/raster/raster_dataset.h"

namespace gdal_zarr {
namespace {

// Returns true if a window between pixels has other lengths than the whole pixels given with it:
// then pixels are resampled, even if the buffer has the same size.
bool has_other_lengths(const GDALRasterIOExtraArg& extra, int columns, int rows) {
  return extra.bFloatingPointWindowValidity != FALSE &&
         (extra.dfXSize != columns || extra.dfYSize != rows);
}

// Returns true if the window has no other place or lengths between pixels.
bool is_of_whole_pixels(const GDALRasterIOExtraArg& extra, int x, int y, int columns, int rows) {
  return extra.bFloatingPointWindowValidity == FALSE ||
         (extra.dfXOff == x && extra.dfYOff == y && extra.dfXSize == columns &&
          extra.dfYSize == rows);
}

// Each run of columns is read with each run of rows, in a separate request.
constexpr std::size_t kMaxRuns = 8;

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
std::optional<std::vector<PixelRun>> nearest_pixels(int first, int length, int count) {
  const auto start = static_cast<std::uint64_t>(first);
  const auto wanted = static_cast<std::uint64_t>(count);
  if (length % count == 0) {
    const auto step = static_cast<std::uint64_t>(length / count);
    return std::vector{PixelRun{start + step / 2, step, wanted, 0}};
  }
  // GDAL counts a centre that is a little before a pixel as in it. It adds the steps up along X and
  // multiplies them along Y.
  constexpr double kLittle = 1e-10;
  constexpr double kRounding = 1e-11;
  const double step = length / static_cast<double>(count);
  const auto is_on_edge = [](double centre) {
    return std::abs(centre - std::round(centre)) < kRounding;
  };
  std::vector<PixelRun> runs;
  double sum = 0.5 * step + first + kLittle;
  for (std::uint64_t i = 0; i < wanted; ++i, sum += step) {
    const double product = (static_cast<double>(i) + 0.5) * step + first + kLittle;
    const auto pixel = static_cast<std::uint64_t>(product);
    if (static_cast<std::uint64_t>(sum) != pixel || is_on_edge(sum) || is_on_edge(product)) {
      return std::nullopt;
    }
    if (!runs.empty() && runs.back().count == 1) runs.back().step = pixel - runs.back().first;
    if (!runs.empty() && pixel == runs.back().first + runs.back().count * runs.back().step) {
      ++runs.back().count;
      continue;
    }
    if (runs.size() == kMaxRuns) return std::nullopt;
    runs.push_back({pixel, 1, 1, i});
  }
  return runs;
}

// Writes the pixels of a buffer of `buffer_columns` times `buffer_rows` to the window of `request`,
// whose steps are ignored, by nearest neighbour as GDAL does it. Returns false after a CE_Failure,
// which is also reported when the progress function stops the write.
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
      if (!view.continues(request, done)) return false;
    }
    return true;
  });
}

}  // namespace

RasterDataset* RasterDataset::best_overview(int& x, int& y, int& columns, int& rows,
                                            int buffer_columns, int buffer_rows,
                                            GDALRasterIOExtraArg* extra) {
  const bool is_decimated = buffer_columns < columns || buffer_rows < rows;
  if (!is_decimated || overviews().empty()) return nullptr;
  const int level = GDALBandGetBestOverviewLevel2(GetRasterBand(1), x, y, columns, rows,
                                                  buffer_columns, buffer_rows, extra);
  return level < 0 ? nullptr : (*overviews_)[static_cast<std::size_t>(level)].get();
}

void RasterDataset::flush_blocks(std::span<const int> bands, int x, int y, int columns, int rows) {
  for (const int index : bands) {
    GDALRasterBand& band = *GetRasterBand(index + 1);
    int width = 0;
    int height = 0;
    band.GetBlockSize(&width, &height);
    for (int block_y = y / height; block_y <= (y + rows - 1) / height; ++block_y) {
      for (int block_x = x / width; block_x <= (x + columns - 1) / width; ++block_x) {
        band.FlushBlock(block_x, block_y, TRUE);
      }
    }
  }
}

// Reads to a buffer that is smaller than the window. Nullopt where the pixels are too unevenly
// spaced.
std::optional<CPLErr> RasterDataset::read_decimated(int x, int y, int columns, int rows,
                                                    const RasterRequest& request,
                                                    std::span<const int> bands) {
  if (static_cast<std::uint64_t>(columns) < request.columns ||
      static_cast<std::uint64_t>(rows) < request.rows) {
    return std::nullopt;
  }
  const auto column_runs = nearest_pixels(x, columns, static_cast<int>(request.columns));
  const auto row_runs = nearest_pixels(y, rows, static_cast<int>(request.rows));
  if (!column_runs || !row_runs) return std::nullopt;
  if (is_writable()) flush_blocks(bands, x, y, columns, rows);
  const auto pixels = static_cast<double>(request.columns * request.rows);
  double done = 0;
  for (const PixelRun& row_run : *row_runs) {
    for (const PixelRun& column_run : *column_runs) {
      RasterRequest part = request;
      part.x = column_run.first;
      part.x_step = column_run.step;
      part.columns = column_run.count;
      part.y = row_run.first;
      part.y_step = row_run.step;
      part.rows = row_run.count;
      part.buffer = static_cast<std::byte*>(request.buffer) +
                    static_cast<std::ptrdiff_t>(row_run.place) * request.line_space +
                    static_cast<std::ptrdiff_t>(column_run.place) * request.pixel_space;
      const double after = done + static_cast<double>(part.columns * part.rows) / pixels;
      PartialProgress progress(done, after, request.progress, request.progress_data);
      part.progress = progress.function();
      part.progress_data = progress.data();
      if (!view_.transfer(GF_Read, part, bands)) return CE_Failure;
      done = after;
    }
  }
  return CE_None;
}

std::optional<CPLErr> RasterDataset::transfer_directly(
    GDALRWFlag flag, int x, int y, int columns, int rows, void* buffer, int buffer_columns,
    int buffer_rows, GDALDataType type, std::span<const int> bands, GSpacing pixel_space,
    GSpacing line_space, GSpacing band_space, const GDALRasterIOExtraArg* extra) {
  RasterRequest request;
  request.columns = static_cast<std::uint64_t>(buffer_columns);
  request.rows = static_cast<std::uint64_t>(buffer_rows);
  request.buffer = buffer;
  request.type = type;
  request.pixel_space = pixel_space;
  request.line_space = line_space;
  request.band_space = band_space;
  request.progress = extra->pfnProgress;
  request.progress_data = extra->pProgressData;
  const bool is_exact = buffer_columns == columns && buffer_rows == rows &&
                        (flag == GF_Write || !has_other_lengths(*extra, columns, rows));
  if (!is_exact && flag == GF_Read) {
    if (extra->eResampleAlg != GRIORA_NearestNeighbour ||
        !is_of_whole_pixels(*extra, x, y, columns, rows)) {
      return std::nullopt;
    }
    return read_decimated(x, y, columns, rows, request, bands);
  }
  if (is_writable()) flush_blocks(bands, x, y, columns, rows);
  if (flag == GF_Write) {
    store_values_of_bands();
    for (const int index : bands) band(index + 1).drop_statistics();
  }
  request.x = static_cast<std::uint64_t>(x);
  request.y = static_cast<std::uint64_t>(y);
  if (!is_exact) {
    request.columns = static_cast<std::uint64_t>(columns);
    request.rows = static_cast<std::uint64_t>(rows);
    return write_resampled(view_, request, bands, buffer_columns, buffer_rows) ? CE_None
                                                                               : CE_Failure;
  }
  return view_.transfer(flag, request, bands) ? CE_None : CE_Failure;
}

CPLErr RasterDataset::IRasterIO(GDALRWFlag flag, int x, int y, int columns, int rows, void* buffer,
                                int buffer_columns, int buffer_rows, GDALDataType type,
                                int band_count, BandMap band_map, GSpacing pixel_space,
                                GSpacing line_space, GSpacing band_space,
                                GDALRasterIOExtraArg* extra) {
  return guarded(CE_Failure, [&] {
    if (flag == GF_Read) {
      GDALRasterIOExtraArg overview_extra = *extra;
      if (RasterDataset* overview =
              best_overview(x, y, columns, rows, buffer_columns, buffer_rows, &overview_extra)) {
        return overview->IRasterIO(flag, x, y, columns, rows, buffer, buffer_columns, buffer_rows,
                                   type, band_count, band_map, pixel_space, line_space, band_space,
                                   &overview_extra);
      }
    }
    std::vector<int> bands(band_map, band_map + band_count);
    for (int& band : bands) --band;
    if (const auto result =
            transfer_directly(flag, x, y, columns, rows, buffer, buffer_columns, buffer_rows, type,
                              bands, pixel_space, line_space, band_space, extra)) {
      return *result;
    }
    return GDALPamDataset::IRasterIO(flag, x, y, columns, rows, buffer, buffer_columns, buffer_rows,
                                     type, band_count, band_map, pixel_space, line_space,
                                     band_space, extra);
  });
}

CPLErr RasterBand::transfer_block(GDALRWFlag flag, int block_x, int block_y, void* buffer) {
  const auto pixel = static_cast<std::ptrdiff_t>(GDALGetDataTypeSizeBytes(eDataType));
  RasterRequest request;
  request.x = static_cast<std::uint64_t>(block_x) * static_cast<std::uint64_t>(nBlockXSize);
  request.y = static_cast<std::uint64_t>(block_y) * static_cast<std::uint64_t>(nBlockYSize);
  request.columns = std::min(static_cast<std::uint64_t>(nBlockXSize),
                             static_cast<std::uint64_t>(nRasterXSize) - request.x);
  request.rows = std::min(static_cast<std::uint64_t>(nBlockYSize),
                          static_cast<std::uint64_t>(nRasterYSize) - request.y);
  request.buffer = buffer;
  request.type = eDataType;
  request.pixel_space = pixel;
  request.line_space = pixel * nBlockXSize;
  const int band = nBand - 1;
  return guarded(CE_Failure, [&] {
    if (flag == GF_Write) {
      dataset().store_values_of_bands();
      drop_statistics();
    }
    return view().transfer(flag, request, {&band, 1}) ? CE_None : CE_Failure;
  });
}

CPLErr RasterBand::IReadBlock(int block_x, int block_y, void* buffer) {
  return transfer_block(GF_Read, block_x, block_y, buffer);
}

CPLErr RasterBand::IWriteBlock(int block_x, int block_y, void* buffer) {
  return transfer_block(GF_Write, block_x, block_y, buffer);
}

CPLErr RasterBand::IRasterIO(GDALRWFlag flag, int x, int y, int columns, int rows, void* buffer,
                             int buffer_columns, int buffer_rows, GDALDataType type,
                             GSpacing pixel_space, GSpacing line_space,
                             GDALRasterIOExtraArg* extra) {
  return guarded(CE_Failure, [&] {
    if (flag == GF_Read) {
      GDALRasterIOExtraArg overview_extra = *extra;
      if (RasterDataset* overview = dataset().best_overview(x, y, columns, rows, buffer_columns,
                                                            buffer_rows, &overview_extra)) {
        return overview->GetRasterBand(nBand)->RasterIO(flag, x, y, columns, rows, buffer,
                                                        buffer_columns, buffer_rows, type,
                                                        pixel_space, line_space, &overview_extra);
      }
    }
    const int band = nBand - 1;
    if (const auto result = dataset().transfer_directly(
            flag, x, y, columns, rows, buffer, buffer_columns, buffer_rows, type, {&band, 1},
            pixel_space, line_space, 0, extra)) {
      return *result;
    }
    return GDALPamRasterBand::IRasterIO(flag, x, y, columns, rows, buffer, buffer_columns,
                                        buffer_rows, type, pixel_space, line_space, extra);
  });
}

}  // namespace gdal_zarr
