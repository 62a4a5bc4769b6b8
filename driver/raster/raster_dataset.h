// The classic view of one array: a dataset and its bands.
#pragma once

#include <gdal_pam.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/conventions/geotransform.h"
#include "driver/raster/raster_view.h"

namespace gdal_zarr {

class RasterDataset final : public GDALPamDataset {
 public:
  // `name` is what was opened; `subdataset` the array in it when it is one of several. Values of
  // dimensions are put into the metadata of bands for at most `metadata_seconds`.
  RasterDataset(RasterView view, const std::string& name, const std::string& subdataset,
                double metadata_seconds = kDefaultMetadataSeconds);
  static constexpr double kDefaultMetadataSeconds = 5;

  const RasterView& view() const { return view_; }

  const OGRSpatialReference* GetSpatialRef() const override;
#if GDAL_ZARR_AT_LEAST(3, 12)
  CPLErr GetGeoTransform(GDALGeoTransform& transform) const override;
#else
  CPLErr GetGeoTransform(double* transform) override;
#endif

  // What the store says of the raster stands in these documents; the chunks are not listed.
  char** GetFileList() override;

  // The coarser levels of the pyramid whose finest one this is, the finer first.
  const std::vector<std::unique_ptr<RasterDataset>>& overviews();
  // The overview from which a request for fewer pixels than there are is best answered; the window
  // is then changed to one of the overview. Null when there is none.
  RasterDataset* best_overview(int& x, int& y, int& columns, int& rows, int buffer_columns,
                               int buffer_rows, GDALRasterIOExtraArg* extra);

  // Reads without going through the block cache, if the request needs no resampling but steps.
  // Nothing when it does.
  std::optional<CPLErr> read_directly(int x, int y, int columns, int rows, void* buffer,
                                      int buffer_columns, int buffer_rows, GDALDataType type,
                                      std::span<const int> bands, GSpacing pixel_space,
                                      GSpacing line_space, GSpacing band_space,
                                      const GDALRasterIOExtraArg* extra) const;

 protected:
  CPLErr IRasterIO(GDALRWFlag flag, int x, int y, int columns, int rows, void* buffer,
                   int buffer_columns, int buffer_rows, GDALDataType type, int band_count,
                   BandMap band_map, GSpacing pixel_space, GSpacing line_space, GSpacing band_space,
                   GDALRasterIOExtraArg* extra) override;

 private:
  friend class RasterBand;

  // An overview of `fine`.
  RasterDataset(RasterView view, const RasterDataset& fine);
  void make_bands();
  void set_metadata();

  RasterView view_;
  std::shared_ptr<OGRSpatialReference> crs_;
  std::optional<GeoTransform> geotransform_;
  std::optional<std::vector<std::unique_ptr<RasterDataset>>> overviews_;
  double metadata_seconds_ = kDefaultMetadataSeconds;  // what is left of it
};

class RasterBand final : public GDALPamRasterBand {
 public:
  RasterBand(RasterDataset* dataset, int band);

  double GetNoDataValue(int* success) override;
  int64_t GetNoDataValueAsInt64(int* success) override;
  uint64_t GetNoDataValueAsUInt64(int* success) override;
  double GetOffset(int* success) override;
  double GetScale(int* success) override;
  const char* GetUnitType() override;
  GDALColorInterp GetColorInterpretation() override;
  int GetOverviewCount() override;
  GDALRasterBand* GetOverview(int index) override;
  MetadataList GetMetadata(const char* domain) override;
  const char* GetMetadataItem(const char* name, const char* domain) override;

 protected:
  CPLErr IReadBlock(int block_x, int block_y, void* buffer) override;
  CPLErr IRasterIO(GDALRWFlag flag, int x, int y, int columns, int rows, void* buffer,
                   int buffer_columns, int buffer_rows, GDALDataType type, GSpacing pixel_space,
                   GSpacing line_space, GDALRasterIOExtraArg* extra) override;

 private:
  const RasterView& view() const;
  RasterDataset& dataset() const { return *static_cast<RasterDataset*>(poDS); }
  // Of the dimensions that make the bands DIM_name_INDEX, DIM_name_VALUE, DIM_name_UNIT and, of
  // times, DIM_name_DATETIME (ISO 8601). Made when first asked for: the values have to be read.
  void make_dimension_metadata();
  // Whether the array's nodata value, of a type for which it is exact, is in `value`.
  template <typename Number>
  bool read_nodata(Number& value) const;

  bool has_dimension_metadata_ = false;
};

}  // namespace gdal_zarr
