#include "driver/conventions/spatial.h"

#include <cpl_error.h>
#include <cpl_port.h>

#include <algorithm>
#include <cmath>

#include "driver/conventions/zarr_conventions.h"
#include "driver/gdal/messages.h"

namespace gdal_zarr {
namespace {

using zarrcore::find_member;
using zarrcore::Json;

// From a corner of the first cell to its centre, or back.
GeoTransform moved(const GeoTransform& transform, double cells) {
  GeoTransform result = transform;
  result[0] += (transform[1] + transform[2]) * cells;
  result[3] += (transform[4] + transform[5]) * cells;
  return result;
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
  const GeoTransform result{number(2), number(0), number(1), number(5), number(3), number(4)};
  return spatial_registration(attributes) == Registration::node ? moved(result, -0.5) : result;
}

std::optional<Registration> spatial_registration(const Json& attributes) {
  const std::string* text = zarrcore::find_string(attributes, "spatial:registration");
  if (text == nullptr) return std::nullopt;
  for (const Registration registration : {Registration::pixel, Registration::node}) {
    if (*text == registration_name(registration)) return registration;
  }
  return std::nullopt;
}

std::string area_or_point(const Json& attributes) {
  if (const auto registration = spatial_registration(attributes)) {
    return *registration == Registration::node ? "Point" : "Area";
  }
  const auto has = [&](const char* name) {
    const Json* member = find_member(attributes, name);
    return member != nullptr && !member->is_null();
  };
  if (has("spatial:registration")) return "";
  const bool is_declared = declares_convention(attributes, ZarrConvention::spatial) &&
                           (has("spatial:dimensions") || has("spatial:bbox"));
  return is_declared || has("spatial:transform") ? "Area" : "";
}

std::optional<Registration> registration_of(const std::string& area_or_point) {
  if (EQUAL(area_or_point.c_str(), "Point")) return Registration::node;
  if (EQUAL(area_or_point.c_str(), "Area")) return Registration::pixel;
  return std::nullopt;
}

const char* registration_name(Registration registration) {
  return registration == Registration::node ? "node" : "pixel";
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
                   std::uint64_t rows, const std::optional<SpatialDimensions>& dimensions,
                   Registration registration) {
  const bool is_node = registration == Registration::node;
  const auto [c, a, b, f, d, e] = is_node ? moved(transform, 0.5) : transform;
  // The box of what the transform places: cells, or nodes.
  const double width = static_cast<double>(columns) - (is_node && columns > 0 ? 1 : 0);
  const double height = static_cast<double>(rows) - (is_node && rows > 0 ? 1 : 0);
  const auto [left, right] =
      std::minmax({c, c + a * width, c + b * height, c + a * width + b * height});
  const auto [bottom, top] =
      std::minmax({f, f + d * width, f + e * height, f + d * width + e * height});
  if (dimensions) attributes["spatial:dimensions"] = {dimensions->y, dimensions->x};
  attributes["spatial:registration"] = registration_name(registration);
  attributes["spatial:transform_type"] = "affine";
  attributes["spatial:transform"] = {a, b, c, d, e, f};
  attributes["spatial:bbox"] = {left, bottom, right, top};
  attributes["spatial:shape"] = {rows, columns};
}

}  // namespace gdal_zarr
