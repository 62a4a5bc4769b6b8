#include "driver/conventions/proj.h"

#include <cpl_error.h>

#include "driver/conventions/crs_import.h"

namespace gdal_zarr {

std::shared_ptr<OGRSpatialReference> crs_from_proj(const zarrcore::Json& attributes) {
  std::string not_understood;
  for (const char* key : {"proj:code", "proj:wkt2", "proj:projjson", "proj:epsg"}) {
    const zarrcore::Json* value = zarrcore::find_member(attributes, key);
    if (value == nullptr || value->is_null()) continue;
    if (auto crs = value->is_number_integer() ? import_crs("EPSG:" + zarrcore::dump_json(*value))
                                              : import_crs(*value)) {
      return crs;
    }
    if (not_understood.empty()) not_understood = key;
  }
  if (!not_understood.empty()) {
    CPLError(CE_Warning, CPLE_AppDefined, "Zarr: the attribute %s is not understood",
             not_understood.c_str());
  }
  return nullptr;
}

}  // namespace gdal_zarr
