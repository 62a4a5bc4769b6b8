// The georeferencing of the classic dataset: CRS, geotransform, and ground control points, which
// are read from the sidecar, else from the store.
#include <algorithm>

#include "driver/conventions/position.h"
#include "driver/gdal/messages.h"
#include "driver/multidim/georeferencing.h"
#include "driver/raster/raster_dataset.h"

namespace gdal_zarr {

const OGRSpatialReference* RasterDataset::GetSpatialRef() const {
  // As in other formats, the CRS of control points is not the raster's own.
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
    crs_is_of_points_ = false;
    georeferencing_has_changed_ = true;
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

RasterDataset::ControlPoints& RasterDataset::control_points() {
  ControlPoints& points = control_points_;
  if (points.are_read) return points;
  points.are_read = true;
  points.crs = crs_;
  if (points.stored.empty() && !geotransform_) {
    points.stored = read_gcp_grid(view_.array());
    points.are_of_product = !points.stored.empty();
    if (points.are_of_product) points.crs = make_wgs84();
  }
  for (GroundControlPoint& point : points.stored) {
    GDAL_GCP gcp{};
    gcp.pszId = point.id.data();
    gcp.pszInfo = point.info.data();
    gcp.dfGCPPixel = point.pixel;
    gcp.dfGCPLine = point.line;
    gcp.dfGCPX = point.x;
    gcp.dfGCPY = point.y;
    gcp.dfGCPZ = point.z;
    points.list.push_back(gcp);
  }
  return points;
}

int RasterDataset::GetGCPCount() {
  if (const int count = GDALPamDataset::GetGCPCount()) return count;
  return guarded(0, [&] { return static_cast<int>(control_points().list.size()); });
}

const GDAL_GCP* RasterDataset::GetGCPs() {
  if (GDALPamDataset::GetGCPCount() > 0) return GDALPamDataset::GetGCPs();
  return guarded<const GDAL_GCP*>(nullptr, [&] {
    const auto& list = control_points().list;
    return list.empty() ? nullptr : list.data();
  });
}

const OGRSpatialReference* RasterDataset::GetGCPSpatialRef() const {
  auto& self = const_cast<RasterDataset&>(*this);  // points are read on first use
  if (self.GDALPamDataset::GetGCPCount() > 0) return GDALPamDataset::GetGCPSpatialRef();
  return guarded<const OGRSpatialReference*>(nullptr, [&] {
    const ControlPoints& points = self.control_points();
    return points.list.empty() ? nullptr : points.crs.get();
  });
}

// Returns true if the grid mapping of the array can have points in this CRS, X first.
bool RasterDataset::stores_gcps(const OGRSpatialReference* crs) const {
  const Array& array = view_.array();
  if (!is_writable() || array.convention() != GeoreferencingConvention::cf ||
      array.session()->root_is_array() || geotransform_ || crs == nullptr || crs->IsEmpty()) {
    return false;
  }
  OGRSpatialReference copy(*crs);
  set_axis_mapping(copy, 1, 2);
  if (copy.GetDataAxisToSRSAxisMapping() != crs->GetDataAxisToSRSAxisMapping()) return false;
  return !crs_ || crs_->IsSame(crs) != 0;
}

CPLErr RasterDataset::SetGCPs(int count, const GDAL_GCP* points, const OGRSpatialReference* crs) {
  return guarded(CE_Failure, [&] {
    std::vector<GroundControlPoint> stored;
    for (int i = 0; i < count; ++i) {
      const GDAL_GCP& point = points[i];
      stored.push_back({point.pszId != nullptr ? point.pszId : "",
                        point.pszInfo != nullptr ? point.pszInfo : "", point.dfGCPPixel,
                        point.dfGCPLine, point.dfGCPX, point.dfGCPY, point.dfGCPZ});
    }
    const OGRSpatialReference* old_crs = GetGCPSpatialRef();
    if (count == GetGCPCount() && stored == control_points_.stored && crs != nullptr &&
        old_crs != nullptr && old_crs->IsSame(crs) != 0) {
      return CE_None;
    }
    if (!stores_gcps(crs)) stored.clear();
    const bool is_stored = !stored.empty();
    // `points` and `crs` may belong to this dataset: they must stay valid until the end.
    ControlPoints replaced;
    const auto replaced_crs = crs_;
    if (stored != control_points_.stored) {
      replaced = std::exchange(control_points_, {});
      control_points_.stored = std::move(stored);
      if (is_stored) {
        crs_is_of_points_ |= crs_ == nullptr;
        crs_.reset(crs->Clone());
        set_axis_mapping(*crs_, 1, 2);
      } else if (crs_is_of_points_ && !geotransform_) {
        crs_.reset();
      }
      georeferencing_has_changed_ = is_writable();
    }
    if (!is_stored) return GDALPamDataset::SetGCPs(count, points, crs);
    if (GDALPamDataset::GetGCPCount() == 0) return CE_None;
    return GDALPamDataset::SetGCPs(0, nullptr, static_cast<const OGRSpatialReference*>(nullptr));
  });
}

}  // namespace gdal_zarr
