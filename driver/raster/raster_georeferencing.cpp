// The georeferencing of the classic dataset.
#include <algorithm>

#include "driver/conventions/crs.h"
#include "driver/gdal/error_guard.h"
#include "driver/multidim/georeferencing.h"
#include "driver/raster/raster_dataset.h"

namespace gdal_zarr {

const OGRSpatialReference* RasterDataset::GetSpatialRef() const {
  // As other formats: that of control points is not the raster's own.
  if (!geotransform_ && !control_points_.stored.empty()) return nullptr;
  return crs_ ? crs_.get() : GDALPamDataset::GetSpatialRef();
}

#if GDAL_ZARR_AT_LEAST(3, 12)
CPLErr RasterDataset::GetGeoTransform(GDALGeoTransform& transform) const {
  if (!geotransform_) return GDALPamDataset::GetGeoTransform(transform);
  transform = GDALGeoTransform(geotransform_->data());
  return CE_None;
}
#else
CPLErr RasterDataset::GetGeoTransform(double* transform) {
  if (!geotransform_) return GDALPamDataset::GetGeoTransform(transform);
  std::copy(geotransform_->begin(), geotransform_->end(), transform);
  return CE_None;
}
#endif

// GDAL's programs set the identity to unset the geotransform.
void RasterDataset::place(const GeoTransform& transform) {
  constexpr GeoTransform kNowhere{0, 1, 0, 0, 0, 1};
  geotransform_ = transform == kNowhere ? std::nullopt : std::optional(transform);
}

void RasterDataset::turn_north_up() {
  if (!geotransform_) return;
  GeoTransform& t = *geotransform_;
  if (t[2] != 0 || t[4] != 0 || t[5] <= 0) return;
  view_.flip();
  t[3] += t[5] * nRasterYSize;
  t[5] = -t[5];
  for (GroundControlPoint& point : control_points_.stored) point.line = nRasterYSize - point.line;
}

CPLErr RasterDataset::SetSpatialRef(const OGRSpatialReference* crs) {
  if (!is_writable()) return GDALPamDataset::SetSpatialRef(crs);
  return guarded(CE_Failure, [&] {
    crs_.reset(crs == nullptr || crs->IsEmpty() ? nullptr : crs->Clone());
    if (crs_) set_axis_mapping(*crs_, 1, 2);
    georeferencing_has_changed_ = true;
    return CE_None;
  });
}

#if GDAL_ZARR_AT_LEAST(3, 12)
CPLErr RasterDataset::SetGeoTransform(const GDALGeoTransform& transform) {
  if (!is_writable()) return GDALPamDataset::SetGeoTransform(transform);
  GeoTransform values{};
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = transform[static_cast<int>(i)];
  place(values);
#else
CPLErr RasterDataset::SetGeoTransform(double* transform) {
  if (!is_writable()) return GDALPamDataset::SetGeoTransform(transform);
  GeoTransform values{};
  std::copy(transform, transform + values.size(), values.begin());
  place(values);
#endif
  georeferencing_has_changed_ = true;
  return CE_None;
}

void RasterDataset::store_georeferencing() {
  WrittenGeoreferencing written{geotransform_, crs_.get()};
  if (!control_points_.are_of_product) written.gcps = control_points_.stored;
  gdal_zarr::store_georeferencing(view_, written);
  georeferencing_has_changed_ = false;
}

}  // namespace gdal_zarr
