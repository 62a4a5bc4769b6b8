#include "driver/conventions/satellite.h"

#include <cpl_conv.h>
#include <cpl_port.h>

#include <string>

#include "driver/conventions/cf/units.h"
#include "driver/gdal/crs_export.h"

namespace gdal_zarr {

std::optional<double> satellite_height(const OGRSpatialReference& crs) {
  const char* method = crs.GetAttrValue("PROJECTION");
  const bool may_be = method == nullptr || STARTS_WITH_CI(method, "Geostationary");
  if (!crs.IsProjected() || !may_be) return std::nullopt;
  const std::string text = proj4_text(crs);
  const auto at = text.find("+h=");
  if (text.find("+proj=geos") == std::string::npos || at == std::string::npos) return std::nullopt;
  return CPLAtof(text.c_str() + at + 3);
}

double metres_of_view(const EvidenceAxis& axis, double height) {
  const cf::Unit unit = cf::read_unit(axis.unit);
  if (unit.kind != cf::UnitKind::angle) return 0;
  const std::string* name =
      axis.attributes ? zarrcore::find_string(*axis.attributes, "long_name") : nullptr;
  const bool is_westward = name != nullptr && STARTS_WITH_CI(name->c_str(), "azimuth angle");
  return (is_westward ? -1 : 1) * unit.size * height;
}

}  // namespace gdal_zarr
