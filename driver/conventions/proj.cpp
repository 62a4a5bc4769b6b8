#include "driver/conventions/proj.h"

#include <cpl_error.h>

#include <algorithm>
#include <cmath>

#include "driver/gdal/crs_export.h"
#include "driver/gdal/crs_import.h"
#include "driver/gdal/messages.h"

namespace gdal_zarr {

namespace {

constexpr const char* kKeys[] = {"proj:code", "proj:wkt2", "proj:projjson", "proj:epsg"};

// `key` has the prefix "proj:", which drafts of the convention replace by an object: `geo:proj`, or
// `proj` in `geo`.
const zarrcore::Json* find_proj(const zarrcore::Json& attributes, const char* key) {
  if (const auto* value = zarrcore::find_member(attributes, key)) return value;
  const auto* object = zarrcore::find_member(attributes, "geo:proj");
  if (object == nullptr) {
    const auto* geo = zarrcore::find_member(attributes, "geo");
    object = geo != nullptr ? zarrcore::find_member(*geo, "proj") : nullptr;
  }
  return object != nullptr ? zarrcore::find_member(*object, key + 5) : nullptr;
}

}  // namespace

std::shared_ptr<OGRSpatialReference> crs_from_proj(const zarrcore::Json& attributes) {
  std::string not_understood;
  for (const char* key : kKeys) {
    const zarrcore::Json* value = find_proj(attributes, key);
    if (value == nullptr || value->is_null()) continue;
    if (auto crs = import_crs(*value)) return crs;
    if (not_understood.empty()) not_understood = key;
  }
  if (!not_understood.empty()) {
    report(CE_Warning, CPLE_AppDefined, "Zarr: the attribute %s is not understood",
           not_understood.c_str());
  }
  return nullptr;
}

std::optional<GeoTransform> proj_transform(const zarrcore::Json& attributes) {
  const zarrcore::Json* list = find_proj(attributes, "proj:transform");
  // Nine numbers are those of a whole matrix.
  if (list == nullptr || !list->is_array() || (list->size() != 6 && list->size() != 9)) {
    return std::nullopt;
  }
  GeoTransform transform{};
  constexpr std::size_t kOrder[] = {2, 0, 1, 5, 3, 4};
  for (std::size_t i = 0; i < transform.size(); ++i) {
    const zarrcore::Json& number = (*list)[kOrder[i]];
    if (!number.is_number() || !std::isfinite(number.get<double>())) return std::nullopt;
    transform[i] = number.get<double>();
  }
  return transform;
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
