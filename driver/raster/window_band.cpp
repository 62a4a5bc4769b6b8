#include "driver/raster/window_band.h"

#include <algorithm>
#include <cstring>

namespace gdal_zarr {

WindowBand::WindowBand(GDALRasterBand& band, const PixelWindow& window)
    : band_(band), window_(window) {
  poDS = band.GetDataset();
  nBand = band.GetBand();
  nRasterXSize = band.GetXSize();
  nRasterYSize = band.GetYSize();
  eDataType = band.GetRasterDataType();
  eAccess = band.GetAccess();
  band.GetBlockSize(&nBlockXSize, &nBlockYSize);
}

GDALRasterBand* WindowBand::GetMaskBand() {
  if ((band_.GetMaskFlags() & GMF_ALL_VALID) != 0) return band_.GetMaskBand();
  if (!mask_) mask_ = std::make_unique<WindowBand>(*band_.GetMaskBand(), window_);
  return mask_.get();
}

CPLErr WindowBand::IRasterIO(GDALRWFlag flag, int x, int y, int columns, int rows, void* data,
                             int buffer_columns, int buffer_rows, GDALDataType type,
                             GSpacing pixel_space, GSpacing line_space,
                             GDALRasterIOExtraArg* extra) {
  if (buffer_columns != columns || buffer_rows != rows) {
    return band_.RasterIO(flag, x, y, columns, rows, data, buffer_columns, buffer_rows, type,
                          pixel_space, line_space, extra);
  }
  auto* const bytes = static_cast<GByte*>(data);
  if (flag == GF_Read) {
    const auto size = static_cast<std::size_t>(GDALGetDataTypeSizeBytes(type));
    for (int row = 0; row < rows; ++row) {
      GByte* const line = bytes + row * line_space;
      if (pixel_space == static_cast<GSpacing>(size)) {
        std::memset(line, 0, size * static_cast<std::size_t>(columns));
        continue;
      }
      for (int i = 0; i < columns; ++i) std::memset(line + i * pixel_space, 0, size);
    }
  }
  const int left = std::max(x, window_.x);
  const int top = std::max(y, window_.y);
  const int right = std::min(x + columns, window_.x + window_.columns);
  const int bottom = std::min(y + rows, window_.y + window_.rows);
  if (left >= right || top >= bottom) return CE_None;
  return band_.RasterIO(flag, left, top, right - left, bottom - top,
                        bytes + (top - y) * line_space + (left - x) * pixel_space, right - left,
                        bottom - top, type, pixel_space, line_space, nullptr);
}

}  // namespace gdal_zarr
