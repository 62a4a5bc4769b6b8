// The classic view of one array: a dataset and its bands.
#pragma once

#include <gdal_pam.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/conventions/geotransform.h"
#include "driver/multidim/raster_view.h"
#include "driver/raster/band_values.h"

namespace gdal_zarr {

class RasterDataset final : public GDALPamDataset {
 public:
  // `name` is what was opened; `subdataset` the array in it when it is one of several. Values of
  // dimensions are put into the metadata of bands for at most `metadata_seconds`.
  RasterDataset(RasterView view, const std::string& name, const std::string& subdataset,
                double metadata_seconds = kDefaultMetadataSeconds);
  static constexpr double kDefaultMetadataSeconds = 5;

  // Flushes what is not; a failure is a CE_Failure.
  ~RasterDataset() override;

  const RasterView& view() const { return view_; }
  // Builds overviews as build_default_overviews() does when the dataset is closed.
  void build_overviews_when_closed() { builds_overviews_when_closed_ = true; }
  // Levels at a half, a quarter… until one fits into a tile of 256 × 256. By average; by nearest
  // neighbour where pixels are indexes of colours.
  bool build_default_overviews(GDALProgressFunc progress, void* progress_data);
  // Of a raster of several arrays that were written before: takes over what GDAL keeps beside the
  // store for each.
  void load_beside_arrays();
  // Writes all that waits, as FlushCache() does.
  CPLErr flush(bool at_closing);
  // For a dataset whose arrays are removed: nothing of it is written any more, nor kept beside the
  // store.
  void discard();

  const OGRSpatialReference* GetSpatialRef() const override;
#if GDAL_ZARR_AT_LEAST(3, 12)
  CPLErr GetGeoTransform(GDALGeoTransform& transform) const override;
  CPLErr SetGeoTransform(const GDALGeoTransform& transform) override;
#else
  CPLErr GetGeoTransform(double* transform) override;
  CPLErr SetGeoTransform(double* transform) override;
#endif
  CPLErr SetSpatialRef(const OGRSpatialReference* crs) override;
  // Items are attributes of the array.
  CPLErr SetMetadata(MetadataList metadata, const char* domain) override;
  CPLErr SetMetadataItem(const char* name, const char* value, const char* domain) override;

  FlushResult FlushCache(bool at_closing) override;
#if GDAL_ZARR_AT_LEAST(3, 7)
  CPLErr Close(GDAL_ZARR_CLOSE_PARAMETERS) override;
#endif

  // What the store says of the raster stands in these documents; the chunks are not listed.
  char** GetFileList() override;

  // The coarser levels of the pyramid whose finest one this is, the finer first.
  const std::vector<std::unique_ptr<RasterDataset>>& overviews();
  // The overview from which a request for fewer pixels than there are is best answered; the window
  // is then changed to one of the overview. Null when there is none.
  RasterDataset* best_overview(int& x, int& y, int& columns, int& rows, int buffer_columns,
                               int buffer_rows, GDALRasterIOExtraArg* extra);

  // Reads or writes without going through the block cache. Nothing for a read that needs more
  // resampling than steps. A write never goes through it: of a block that is written in part, the
  // cache would put back what it has read of the rest, over what others have written meanwhile.
  std::optional<CPLErr> transfer_directly(GDALRWFlag flag, int x, int y, int columns, int rows,
                                          void* buffer, int buffer_columns, int buffer_rows,
                                          GDALDataType type, std::span<const int> bands,
                                          GSpacing pixel_space, GSpacing line_space,
                                          GSpacing band_space, const GDALRasterIOExtraArg* extra);

 protected:
  CPLErr IRasterIO(GDALRWFlag flag, int x, int y, int columns, int rows, void* buffer,
                   int buffer_columns, int buffer_rows, GDALDataType type, int band_count,
                   BandMap band_map, GSpacing pixel_space, GSpacing line_space, GSpacing band_space,
                   GDALRasterIOExtraArg* extra) override;
  // Overviews of a store that can be written are made in it.
  CPLErr IBuildOverviews(const char* resampling, int count, const int* factors, int band_count,
                         const int* bands, GDALProgressFunc progress, void* progress_data,
                         CSLConstList options) override;

 private:
  friend class RasterBand;

  // An overview of `fine`.
  RasterDataset(RasterView view, const RasterDataset& fine);
  // The coordinates of the dimensions that make the bands, kept so that their chunks are; null for
  // those without.
  const std::vector<std::shared_ptr<GDALMDArray>>& variables_of_bands();
  // Of the array of a band (counted from 0).
  BandValues& values_of_bands(int band);
  void store_values_of_bands();
  void make_bands();
  void set_metadata();
  void load_sidecar();
  CPLErr finish();
  void place(const GeoTransform& transform);
  bool is_writable() const { return eAccess == GA_Update; }
  // Writes what the block cache holds of a window, and lets go of it.
  void settle_blocks(std::span<const int> bands, int x, int y, int columns, int rows);
  void change_metadata(CPLStringList metadata);
  void keep_beside_arrays();
  bool fill_overviews(const char* resampling, std::span<const int> factors,
                      std::span<const int> bands, GDALProgressFunc progress, void* progress_data);

  RasterView view_;
  std::shared_ptr<OGRSpatialReference> crs_;
  std::optional<GeoTransform> geotransform_;
  bool georeferencing_has_changed_ = false;
  bool builds_overviews_when_closed_ = false;
  bool is_finished_ = false;
  bool is_discarded_ = false;
  std::optional<std::vector<std::unique_ptr<RasterDataset>>> overviews_;
  std::optional<std::vector<std::shared_ptr<GDALMDArray>>> variables_of_bands_;
  std::vector<BandValues> band_values_;                // of each array, made when first asked for
  double metadata_seconds_ = kDefaultMetadataSeconds;  // what is left of it
};

}  // namespace gdal_zarr
