#include <cpl_conv.h>
#include <cpl_error.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "driver/conventions/position.h"
#include "driver/conventions/raster_axes.h"
#include "driver/conventions/zarr_conventions.h"
#include "driver/gdal/messages.h"

namespace gdal_zarr {
namespace {

using zarrcore::find_member;
using zarrcore::Json;

// With `warns`, reports a transform that is for another shape.
bool is_for_shape(const Evidence& evidence, const EvidenceScope& scope, const RasterAxes& axes,
                  const char* key, bool warns = true) {
  const Json* stated = find_member(*scope.attributes, key);
  if (stated == nullptr || stated->is_null()) {
    return scope.shape != EvidenceScope::Shape::matching;
  }
  const Json own = Json::array({evidence.axes[axes.y].size, evidence.axes[axes.x].size});
  if (*stated == own) return true;
  if (warns && scope.shape != EvidenceScope::Shape::matching) {
    report(CE_Warning, CPLE_AppDefined,
           "Zarr: array %s: the transform of %s is for a shape of %s (%s), and is not used for the "
           "raster's %s",
           evidence.array.c_str(), scope.name.c_str(), zarrcore::excerpt(*stated).c_str(), key,
           zarrcore::dump_json(own).c_str());
  }
  return false;
}

// Attributes of groups do not apply to an array whose own transform is null.
FoundTransform from_spatial(const Evidence& evidence, const RasterAxes& axes) {
  for (const EvidenceScope& scope : evidence.scopes) {
    const auto transform = spatial_transform(*scope.attributes);
    if (transform && is_for_shape(evidence, scope, axes, "spatial:shape")) {
      return {transform, "spatial:transform of " + scope.name, scope.attributes};
    }
    if (scope.attributes == evidence.attributes &&
        scope.attributes->contains("spatial:transform")) {
      break;
    }
  }
  return {};
}

FoundTransform from_gdal(const Evidence& evidence, const RasterAxes& /*axes*/) {
  return {own_geotransform(*evidence.attributes), "the attribute gdal:geotransform",
          evidence.attributes};
}

FoundTransform from_proj(const Evidence& evidence, const RasterAxes& axes) {
  for (const EvidenceScope& scope : evidence.scopes) {
    if (denies_transform(evidence)) break;
    const auto transform = proj_transform(*scope.attributes);
    if (transform && is_for_shape(evidence, scope, axes, "proj:shape")) {
      return {transform, "proj:transform of " + scope.name, scope.attributes};
    }
  }
  return {};
}

// `_TRANSFORM`, which some stores have beside `_CRS`: six numbers, in the order of an affine matrix
// or in GDAL's. The zeros of an upright grid show which.
FoundTransform from_draft(const Evidence& evidence, const RasterAxes& /*axes*/) {
  const Json* list = find_member(*evidence.attributes, "_TRANSFORM");
  if (list == nullptr) return {};
  const auto gdal = own_geotransform({{"gdal:geotransform", *list}});
  const auto affine = affine_transform(*list);
  const auto is_upright = [](const std::optional<GeoTransform>& t) {
    return t && (*t)[2] == 0 && (*t)[4] == 0 && (*t)[1] != 0 && (*t)[5] != 0;
  };
  if (is_upright(gdal) == is_upright(affine)) return {};
  return {is_upright(gdal) ? gdal : affine, "the attribute _TRANSFORM", evidence.attributes};
}

bool is_round(double number) {
  char text[32];
  CPLsnprintf(text, sizeof(text), "%.5g", number);
  return std::abs(CPLAtof(text) - number) <= 1e-9 * std::abs(number);
}

// The attributes that state a transform, in order of precedence. Coordinates follow:
// find_transform().
constexpr FoundTransform (*kStated[])(const Evidence&, const RasterAxes&) = {
    from_spatial, from_gdal, from_proj, from_draft};

}  // namespace

bool denies_transform(const Evidence& evidence) {
  const Json* own = find_member(*evidence.attributes, "spatial:transform");
  return own != nullptr && own->is_null();
}

FoundTransform stated_transform(const Evidence& evidence, const RasterAxes& axes) {
  if (!(axes == find_raster_axes(evidence)) || !are_on_the_map(evidence, axes)) return {};
  for (const auto find : kStated) {
    FoundTransform found = find(evidence, axes);
    if (found.transform) return found;
  }
  return {};
}

FoundTransform box_transform(const Evidence& evidence, const RasterAxes& axes) {
  for (const EvidenceScope& scope : evidence.scopes) {
    const Json* box = find_member(*scope.attributes, "spatial:bbox");
    const Json* shape = find_member(*scope.attributes, "spatial:shape");
    const auto is_number = [](const Json& item) {
      return item.is_number() && std::isfinite(item.get<double>());
    };
    if (box == nullptr || shape == nullptr || denies_transform(evidence) || !box->is_array() ||
        box->size() != 4 || !std::all_of(box->begin(), box->end(), is_number) ||
        !is_for_shape(evidence, scope, axes, "spatial:shape", false)) {
      continue;
    }
    const auto at = [&](std::size_t i) { return (*box)[i].get<double>(); };
    std::vector<GeoTransform> square;
    std::vector<GeoTransform> round;
    for (const double less : {0.0, 1.0}) {
      const double columns = static_cast<double>(evidence.axes[axes.x].size) - less;
      const double rows = static_cast<double>(evidence.axes[axes.y].size) - less;
      const double width = columns > 0 ? (at(2) - at(0)) / columns : 0;
      const double height = rows > 0 ? (at(3) - at(1)) / rows : 0;
      if (width <= 0 || height <= 0 || !is_round(width) || !is_round(height)) continue;
      round.push_back({at(0) - width * less / 2, width, 0, at(3) + height * less / 2, 0, -height});
      if (std::abs(width / height - 1) < 1e-9) square.push_back(round.back());
    }
    const std::vector<GeoTransform>& proven = square.empty() ? round : square;
    if (proven.size() == 1) {
      return {proven.front(), "spatial:bbox of " + scope.name, scope.attributes};
    }
  }
  return {};
}

}  // namespace gdal_zarr
