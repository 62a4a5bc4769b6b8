#include "driver/conventions/proj.h"

#include <cpl_error.h>

#include <algorithm>

#include "driver/gdal/crs_export.h"
#include "driver/gdal/crs_import.h"
#include "driver/gdal/messages.h"

namespace gdal_zarr {

namespace {

constexpr const char* kKeys[] = {"proj:code", "proj:wkt2", "proj:projjson", "proj:epsg"};

}  // namespace

std::shared_ptr<OGRSpatialReference> crs_from_proj(const zarrcore::Json& attributes) {
  std::string not_understood;
  for (const char* key : kKeys) {
    const zarrcore::Json* value = zarrcore::find_member(attributes, key);
    if (value == nullptr || value->is_null()) continue;
    if (auto crs = value->is_number_integer() ? import_crs("EPSG:" + zarrcore::dump_json(*value))
                                              : import_crs(*value)) {
      return crs;
    }
    if (not_understood.empty()) not_understood = key;
  }
  if (!not_understood.empty()) {
    report(CE_Warning, CPLE_AppDefined, "Zarr: the attribute %s is not understood",
           not_understood.c_str());
  }
  return nullptr;
}

bool proj_denies_crs(const zarrcore::Json& attributes) {
  const zarrcore::Json* code = zarrcore::find_member(attributes, "proj:code");
  return code != nullptr && std::all_of(std::begin(kKeys), std::end(kKeys), [&](const char* key) {
           const zarrcore::Json* value = zarrcore::find_member(attributes, key);
           return value == nullptr || value->is_null();
         });
}

void write_proj(zarrcore::Json& attributes, const OGRSpatialReference& crs) {
  if (std::string code = authority_code(crs); !code.empty()) {
    attributes["proj:code"] = std::move(code);
    return;
  }
  attributes["proj:wkt2"] = export_wkt_with_epoch(crs);
  attributes["proj:projjson"] = export_projjson(crs);
}

}  // namespace gdal_zarr
