// A band of which a window exists: pixels outside of it are zeros when they are read, and are not
// written. GDAL computes whole levels of overviews; with such bands, only a part of a level is read
// and written, and all other pixels cost as little as copying zeros.
#pragma once

#include <gdal_proxy.h>

#include <memory>

namespace gdal_zarr {

// In pixels.
struct PixelWindow {
  int x;
  int y;
  int columns;
  int rows;
};

class WindowBand final : public GDALProxyRasterBand {
 public:
  // The band must outlive this one.
  WindowBand(GDALRasterBand& band, const PixelWindow& window);

  GDALRasterBand* GetMaskBand() override;

 protected:
  // One of them overrides GDAL's, which has a parameter in some versions.
  GDALRasterBand* RefUnderlyingRasterBand() const { return &band_; }                // NOLINT
  GDALRasterBand* RefUnderlyingRasterBand(bool /*opens*/) const { return &band_; }  // NOLINT
  CPLErr IRasterIO(GDALRWFlag flag, int x, int y, int columns, int rows, void* data,
                   int buffer_columns, int buffer_rows, GDALDataType type, GSpacing pixel_space,
                   GSpacing line_space, GDALRasterIOExtraArg* extra) override;

 private:
  GDALRasterBand& band_;
  PixelWindow window_;
  std::unique_ptr<WindowBand> mask_;
};

}  // namespace gdal_zarr
