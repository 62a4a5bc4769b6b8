#include "driver/conventions/spatial.h"

#include <cpl_error.h>

#include <algorithm>
#include <cmath>

namespace gdal_zarr {
namespace {

using zarrcore::find_member;
using zarrcore::Json;

bool is_text(const Json& attributes, const char* key, const char* text) {
  const Json* value = find_member(attributes, key);
  return value != nullptr && *value == text;
}

}  // namespace

std::optional<GeoTransform> spatial_transform(const Json& attributes) {
  const Json* transform = find_member(attributes, "spatial:transform");
  if (transform == nullptr || transform->is_null()) return std::nullopt;
  if (const Json* type = find_member(attributes, "spatial:transform_type");
      type != nullptr && !type->is_null() && *type != "affine") {
    return std::nullopt;
  }
  const auto is_finite = [](const Json& item) {
    return item.is_number() && std::isfinite(item.get<double>());
  };
  if (!transform->is_array() || transform->size() != 6 ||
      !std::all_of(transform->begin(), transform->end(), is_finite)) {
    CPLError(CE_Warning, CPLE_AppDefined, "Zarr: \"spatial:transform\" is %s, not six numbers",
             zarrcore::excerpt(*transform).c_str());
    return std::nullopt;
  }
  const auto number = [&](std::size_t i) { return (*transform)[i].get<double>(); };
  GeoTransform result{number(2), number(0), number(1), number(5), number(3), number(4)};
  if (is_text(attributes, "spatial:registration", "node")) {
    result[0] -= (result[1] + result[2]) / 2;
    result[3] -= (result[4] + result[5]) / 2;
  }
  return result;
}

std::optional<SpatialDimensions> spatial_dimensions(const Json& attributes) {
  const Json* names = find_member(attributes, "spatial:dimensions");
  if (names == nullptr || !names->is_array() || names->size() != 2 || !(*names)[0].is_string() ||
      !(*names)[1].is_string()) {
    return std::nullopt;
  }
  return SpatialDimensions{(*names)[0].get<std::string>(), (*names)[1].get<std::string>()};
}

}  // namespace gdal_zarr
