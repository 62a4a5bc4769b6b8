// The read and write path of the classic API, from RasterIO() to a view of arrays
// (raster_view_io.cpp).
#include <algorithm>

#include "driver/gdal/error_guard.h"
#include "driver/raster/raster_band.h"
#include "driver/raster/raster_dataset.h"
#include "driver/raster/resampled_write.h"

namespace gdal_zarr {
namespace {

bool is_evenly_stepped(int length, int buffer_length) {
  return buffer_length > 0 && length % buffer_length == 0;
}

// Whether a window between pixels has other lengths than the whole pixels given with it: then
// pixels are resampled, even if as many are asked for.
bool has_other_lengths(const GDALRasterIOExtraArg& extra, int columns, int rows) {
  return extra.bFloatingPointWindowValidity != FALSE &&
         (extra.dfXSize != columns || extra.dfYSize != rows);
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

void RasterDataset::settle_blocks(std::span<const int> bands, int x, int y, int columns, int rows) {
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

std::optional<CPLErr> RasterDataset::transfer_directly(
    GDALRWFlag flag, int x, int y, int columns, int rows, void* buffer, int buffer_columns,
    int buffer_rows, GDALDataType type, std::span<const int> bands, GSpacing pixel_space,
    GSpacing line_space, GSpacing band_space, const GDALRasterIOExtraArg* extra) {
  const bool is_exact = buffer_columns == columns && buffer_rows == rows &&
                        (flag == GF_Write || !has_other_lengths(*extra, columns, rows));
  const bool is_stepped = flag == GF_Read && extra->eResampleAlg == GRIORA_NearestNeighbour &&
                          extra->bFloatingPointWindowValidity == FALSE &&
                          is_evenly_stepped(columns, buffer_columns) &&
                          is_evenly_stepped(rows, buffer_rows);
  if (!is_exact && !is_stepped && flag == GF_Read) return std::nullopt;
  if (is_writable()) settle_blocks(bands, x, y, columns, rows);
  if (flag == GF_Write) {
    store_values_of_bands();
    for (const int index : bands) band(index + 1).drop_statistics();
  }
  RasterRequest request;
  request.x_step = static_cast<std::uint64_t>(columns / buffer_columns);
  request.y_step = static_cast<std::uint64_t>(rows / buffer_rows);
  // Nearest neighbour takes the pixel under the centre of each pixel of the buffer.
  request.x = static_cast<std::uint64_t>(x) + request.x_step / 2;
  request.y = static_cast<std::uint64_t>(y) + request.y_step / 2;
  request.columns = static_cast<std::uint64_t>(buffer_columns);
  request.rows = static_cast<std::uint64_t>(buffer_rows);
  request.buffer = buffer;
  request.type = type;
  request.pixel_space = pixel_space;
  request.line_space = line_space;
  request.band_space = band_space;
  request.progress = extra->pfnProgress;
  request.progress_data = extra->pProgressData;
  if (!is_exact && flag == GF_Write) {
    request.columns = static_cast<std::uint64_t>(columns);
    request.rows = static_cast<std::uint64_t>(rows);
    request.x = static_cast<std::uint64_t>(x);
    request.y = static_cast<std::uint64_t>(y);
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
