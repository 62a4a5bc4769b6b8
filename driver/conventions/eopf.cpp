#include "driver/conventions/eopf.h"

#include "driver/conventions/proj.h"
#include "driver/gdal/crs_import.h"

namespace gdal_zarr {

using zarrcore::find_member;
using zarrcore::Json;

std::shared_ptr<OGRSpatialReference> crs_from_eopf(const Json& root_attributes) {
  if (const Json* stac = find_member(root_attributes, "stac_discovery")) {
    if (const Json* properties = find_member(*stac, "properties")) {
      if (auto crs = crs_from_proj(*properties)) return crs;
    }
  }
  const Json* other = find_member(root_attributes, "other_metadata");
  if (other == nullptr) return nullptr;
  for (const char* key : {"horizontal_CRS_code", "reference_CRS"}) {
    const Json* value = find_member(*other, key);
    if (value == nullptr) continue;
    if (auto crs = value->is_number_integer() ? import_crs("EPSG:" + zarrcore::dump_json(*value))
                                              : import_crs(*value)) {
      return crs;
    }
  }
  return nullptr;
}

}  // namespace gdal_zarr
