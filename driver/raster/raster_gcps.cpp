// The ground control points of the classic dataset: those in the sidecar, else those of the store.
#include "driver/conventions/crs.h"
#include "driver/gdal/error_guard.h"
#include "driver/multidim/georeferencing.h"
#include "driver/raster/raster_dataset.h"

namespace gdal_zarr {

RasterDataset::ControlPoints& RasterDataset::control_points() {
  ControlPoints& points = control_points_;
  if (points.are_read) return points;
  points.are_read = true;
  points.crs = crs_;
  if (points.stored.empty() && !geotransform_) {
    points.stored = read_gcp_grid(view_.array());
    if (!points.stored.empty()) points.crs = make_wgs84();
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
  auto& self = const_cast<RasterDataset&>(*this);  // points are read when they are asked for
  if (self.GDALPamDataset::GetGCPCount() > 0) return GDALPamDataset::GetGCPSpatialRef();
  return guarded<const OGRSpatialReference*>(nullptr, [&] {
    const ControlPoints& points = self.control_points();
    return points.list.empty() ? nullptr : points.crs.get();
  });
}

}  // namespace gdal_zarr
