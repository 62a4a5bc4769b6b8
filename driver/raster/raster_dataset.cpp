#include "driver/raster/raster_dataset.h"

#include "driver/conventions/crs.h"
#include "driver/gdal/error_guard.h"
#include "driver/multidim/georeferencing.h"
#include "driver/multidim/georeferencing_write.h"
#include "driver/raster/raster_band.h"

namespace gdal_zarr {

RasterDataset::RasterDataset(RasterView view, const std::string& name,
                             const std::string& subdataset, double metadata_seconds)
    : view_(std::move(view)), metadata_seconds_(metadata_seconds) {
  make_bands();
  crs_ = view_.array().crs();
  if (crs_) set_axis_mapping(*crs_, 1, 2);
  geotransform_ = find_geotransform(view_);
  CPLStringList geolocation = find_geolocation(view_, crs_.get());
  if (!geolocation.empty()) GDALDataset::SetMetadata(geolocation.List(), "GEOLOCATION");
  set_metadata();
  set_image_structure();

  SetDescription(name.c_str());
  const std::string& path = view_.array().session()->path();
  SetPhysicalFilename(path.c_str());
  if (!subdataset.empty()) SetSubdatasetName(subdataset.c_str());
  load_sidecar();
  // External overviews, in a file beside the store.
  if (subdataset.empty() && VSIIsLocal(path.c_str())) oOvManager.Initialize(this, path.c_str());
}

RasterDataset::RasterDataset(RasterView view, const RasterDataset& fine)
    : view_(std::move(view)), crs_(fine.crs_), overviews_(std::in_place) {
  make_bands();
  if (fine.geotransform_) {
    geotransform_ = coarser_geotransform(*fine.geotransform_, fine.nRasterXSize, fine.nRasterYSize,
                                         nRasterXSize, nRasterYSize);
  }
  // An overview has no sidecar.
  nPamFlags |= GPF_DISABLED;
}

void RasterDataset::make_bands() {
  nRasterXSize = view_.width();
  nRasterYSize = view_.height();
  eAccess = view_.array().session()->is_writable() ? GA_Update : GA_ReadOnly;
  for (int band = 1; band <= view_.band_count(); ++band) SetBand(band, new RasterBand(this, band));
}

RasterDataset::~RasterDataset() {
  finish();
}

#if GDAL_ZARR_AT_LEAST(3, 7)
CPLErr RasterDataset::Close(GDAL_ZARR_CLOSE_PARAMETERS) {
  if (nOpenFlags == OPEN_FLAGS_CLOSED) return CE_None;
  const CPLErr flushed = finish();
  const CPLErr closed = GDALPamDataset::Close();
  return flushed == CE_None ? closed : flushed;
}
#endif

void RasterDataset::discard() {
  is_discarded_ = true;
  nPamFlags &= ~GPF_DIRTY;
}

// Called before pixels are written, which must not be read with the old values.
void RasterDataset::store_values_of_bands() {
  for (BandValues& values : band_values_) values.store();
}

FlushResult RasterDataset::FlushCache(bool at_closing) {
  const CPLErr flushed = flush(at_closing);
  if (!at_closing && !is_discarded_) view_.array().session()->refresh();
  return flush_result(flushed);
}

CPLErr RasterDataset::flush(bool at_closing) {
  if (is_discarded_) return CE_None;
  CPLErr result = CE_None;
  if (view_.arrays().size() > 1 && (nPamFlags & GPF_DIRTY) != 0) {
    result = guarded(CE_Failure, [this] {
      save_sidecars_of_arrays();
      return CE_None;
    });
  }
#if GDAL_ZARR_AT_LEAST(3, 7)
  const CPLErr of_pam = GDALPamDataset::FlushCache(at_closing);
  if (of_pam != CE_None) result = of_pam;
#else
  // What fails there is reported to the error handler only.
  GDALPamDataset::FlushCache(at_closing);
#endif
  if (!is_writable()) return result;
  if (overviews_) {
    for (const auto& overview : *overviews_) {
      if (overview->flush(at_closing) != CE_None) result = CE_Failure;
    }
  }
  const bool is_flushed = guarded(false, [this] {
    store_values_of_bands();
    if (georeferencing_has_changed_) {
      store_georeferencing(view_, geotransform_, crs_.get());
      georeferencing_has_changed_ = false;
    }
    view_.array().session()->flush();
    return true;
  });
  return is_flushed ? result : CE_Failure;
}

// The last flush, by Close() or the destructor.
CPLErr RasterDataset::finish() {
  if (is_finished_) return CE_None;
  is_finished_ = true;
  if (builds_overviews_when_closed_) {
    builds_overviews_when_closed_ = false;
    const bool is_built =
        guarded(false, [this] { return build_default_overviews(GDALDummyProgress, nullptr); });
    if (!is_built) {
      flush(true);
      return CE_Failure;
    }
  }
  return flush(true);
}

const std::vector<std::shared_ptr<GDALMDArray>>& RasterDataset::variables_of_bands() {
  if (!variables_of_bands_) {
    std::vector<std::shared_ptr<GDALMDArray>> variables;
    for (const std::size_t axis : view_.other_axes()) {
      variables.push_back(view_.array().GetDimensions()[axis]->GetIndexingVariable());
    }
    variables_of_bands_ = std::move(variables);
  }
  return *variables_of_bands_;
}

BandValues& RasterDataset::values_of_bands(int band) {
  if (band_values_.empty()) {
    std::vector<BandValues> values;
    for (const auto& array : view_.arrays()) values.emplace_back(*array, view_.slice_count());
    band_values_ = std::move(values);
  }
  return band_values_[view_.arrays().size() > 1 ? static_cast<std::size_t>(band) : 0];
}

}  // namespace gdal_zarr
