#include "driver/conventions/spatial.h"

#include <cpl_error.h>

#include <algorithm>
#include <cmath>

#include "driver/gdal/messages.h"

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
    report(CE_Warning, CPLE_AppDefined, "Zarr: \"spatial:transform\" is %s, not six numbers",
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

void write_spatial(Json& attributes, const GeoTransform& transform, std::uint64_t columns,
                   std::uint64_t rows, const std::optional<SpatialDimensions>& dimensions) {
  const auto& [c, a, b, f, d, e] = transform;
  const auto width = static_cast<double>(columns);
  const auto height = static_cast<double>(rows);
  const auto [left, right] =
      std::minmax({c, c + a * width, c + b * height, c + a * width + b * height});
  const auto [bottom, top] =
      std::minmax({f, f + d * width, f + e * height, f + d * width + e * height});
  if (dimensions) attributes["spatial:dimensions"] = {dimensions->y, dimensions->x};
  attributes["spatial:registration"] = "pixel";
  attributes["spatial:transform_type"] = "affine";
  attributes["spatial:transform"] = {a, b, c, d, e, f};
  attributes["spatial:bbox"] = {left, bottom, right, top};
  attributes["spatial:shape"] = {rows, columns};
}

}  // namespace gdal_zarr
