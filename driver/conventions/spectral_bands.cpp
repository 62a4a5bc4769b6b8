#include "driver/conventions/spectral_bands.h"

#include "zarrcore/base/text.h"

namespace gdal_zarr {
namespace {

using zarrcore::find_member;
using zarrcore::Json;

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

std::vector<SpectralBand> find_spectral_bands(const Json& group, const Json& root) {
  std::vector<SpectralBand> bands;
  add_bands(group, bands);
  const Json* product = find_member(root, "stac_discovery");
  const Json* properties = product != nullptr ? find_member(*product, "properties") : nullptr;
  if (properties != nullptr) add_bands(*properties, bands);
  add_bands(root, bands);
  return bands;
}

}  // namespace gdal_zarr
