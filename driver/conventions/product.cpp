#include "driver/conventions/product.h"

#include <cpl_error.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>

#include "driver/conventions/zarr_conventions.h"
#include "driver/gdal/crs_text.h"
#include "driver/gdal/messages.h"
#include "zarrcore/base/text.h"

namespace gdal_zarr {
namespace {

using CrsPtr = std::shared_ptr<OGRSpatialReference>;
using zarrcore::find_member;
using zarrcore::is_digit;
using zarrcore::Json;

// Members of `other_metadata`.
constexpr std::initializer_list<const char*> kCodesOfProducts = {"horizontal_CRS_code",
                                                                 "reference_CRS"};

const Json* find_path(const Json& object, std::initializer_list<const char*> path) {
  const Json* at = &object;
  for (const char* key : path) {
    at = find_member(*at, key);
    if (at == nullptr) return nullptr;
  }
  return at;
}

// A number, a text of digits, or "EPSG:" and digits.
CrsPtr crs_of_code(const Json& value) {
  if (value.is_number()) {
    const double number = value.get<double>();
    if (!(number > 0 && number < 1e9) || number != std::floor(number)) return nullptr;
    return import_crs("EPSG:" + std::to_string(static_cast<int>(number)));
  }
  if (!value.is_string()) return nullptr;
  const auto& text = value.get_ref<const std::string&>();
  const bool is_number = !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
  return import_crs(is_number ? "EPSG:" + text : text);
}

CrsPtr crs_of_tile(const Json& value) {
  if (!value.is_string()) return nullptr;
  const int code = utm_of_tile(value.get_ref<const std::string&>());
  return code == 0 ? nullptr : import_crs("EPSG:" + std::to_string(code));
}

CrsPtr crs_of_wkt(const Json& value) {
  return value.is_string() ? import_crs(value) : nullptr;
}

// "…_T33UWP_….zarr": the part between underscores that is a tile.
int utm_of_store(std::string_view name) {
  for (std::size_t start = name.find("_T"); start != std::string_view::npos;
       start = name.find("_T", start + 1)) {
    const std::string_view rest = name.substr(start + 1);
    const int code = utm_of_tile(rest.substr(0, rest.find_first_of("_.")));
    if (code != 0) return code;
  }
  return 0;
}

// Members with and without the prefix of the extension.
const Json* member(const Json& band, const std::string& name) {
  const Json* value = find_member(band, "eo:" + name);
  return value != nullptr ? value : find_member(band, name);
}

std::string text(const Json& band, const char* name) {
  const Json* value = member(band, name);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

std::optional<double> number(const Json& band, const char* name) {
  const Json* value = member(band, name);
  return value != nullptr && value->is_number() ? std::optional(value->get<double>())
                                                : std::nullopt;
}

void add_bands(const Json& attributes, std::vector<SpectralBand>& bands) {
  for (const char* key : {"eo:bands", "bands"}) {
    const Json* list = find_member(attributes, key);
    if (list == nullptr || !list->is_array()) continue;
    for (const Json& band : *list) {
      const std::string* name = zarrcore::find_string(band, "name");
      if (name == nullptr) continue;
      bands.push_back({zarrcore::lower_case(*name), text(band, "common_name"),
                       number(band, "center_wavelength"), number(band, "full_width_half_max")});
    }
  }
}

}  // namespace

bool is_eopf_array(const Json& attributes) {
  return find_member(attributes, "_eopf_attrs") != nullptr;
}

// Latitude bands go from C to X without I and O; the northern ones begin with N.
int utm_of_tile(std::string_view tile) {
  if (tile.starts_with('T')) tile.remove_prefix(1);
  std::size_t digits = 0;
  int zone = 0;
  while (digits < tile.size() && digits < 2 && is_digit(tile[digits])) {
    zone = zone * 10 + (tile[digits++] - '0');
  }
  if (zone < 1 || zone > 60 || tile.size() != digits + 3) return 0;
  const char band = tile[digits];
  if (band < 'C' || band > 'X' || band == 'I' || band == 'O') return 0;
  return (band >= 'N' ? 32600 : 32700) + zone;
}

CrsPtr crs_from_eopf(const Json& root_attributes, const std::string& store_name) {
  std::vector<std::pair<const Json*, CrsPtr (*)(const Json&)>> statements;
  const auto add = [&](const Json* object, std::initializer_list<const char*> keys, auto import) {
    for (const char* key : keys) {
      const Json* value = object != nullptr ? zarrcore::find_value(*object, key) : nullptr;
      if (value != nullptr) statements.emplace_back(value, import);
    }
  };
  const Json* root = &root_attributes;
  const Json* properties = find_path(*root, {"stac_discovery", "properties"});
  add(properties, {"proj:epsg", "proj:code"}, crs_of_code);
  add(root, {"proj:epsg", "epsg"}, crs_of_code);
  if (root->is_object()) {
    for (const Json& item : *root) add(&item, {"proj:epsg", "epsg"}, crs_of_code);
  }
  add(find_member(*root, "other_metadata"), kCodesOfProducts, crs_of_code);
  add(find_path(*root, {"stac_discovery", "geometry", "crs", "properties"}), {"code"}, crs_of_code);
  const Json zone = utm_of_store(store_name);
  if (zone != 0) statements.emplace_back(&zone, crs_of_code);
  add(properties, {"s2:mgrs_tile", "mgrs_tile", "tile_id"}, crs_of_tile);
  add(root, {"spatial_ref"}, crs_of_wkt);
  add(properties, {"spatial_ref"}, crs_of_wkt);
  for (const auto& [value, import] : statements) {
    if (CrsPtr crs = import(*value)) return crs;
  }
  if (!statements.empty()) {
    report(CE_Warning, CPLE_AppDefined,
           "Zarr: the product's CRS %s is not understood: expected a code of EPSG, a tile or WKT",
           zarrcore::excerpt(*statements.front().first).c_str());
  }
  return nullptr;
}

CrsPtr crs_from_product(const Json& root_attributes) {
  if (const Json* properties = find_path(root_attributes, {"stac_discovery", "properties"})) {
    if (auto crs = crs_from_proj(*properties)) return crs;
  }
  for (const char* key : kCodesOfProducts) {
    const Json* value = find_path(root_attributes, {"other_metadata", key});
    if (value == nullptr) continue;
    if (auto crs = crs_of_code(*value)) return crs;
  }
  return nullptr;
}

bool is_gcp_group(std::string_view path) {
  const std::string_view name = kGcpGroup;
  return path.ends_with(name) &&
         (path.size() == name.size() || path[path.size() - name.size() - 1] == '/');
}

std::vector<SpectralBand> find_spectral_bands(const Json& group, const Json& root) {
  std::vector<SpectralBand> bands;
  add_bands(group, bands);
  const Json* properties = find_path(root, {"stac_discovery", "properties"});
  if (properties != nullptr) add_bands(*properties, bands);
  add_bands(root, bands);
  return bands;
}

}  // namespace gdal_zarr
