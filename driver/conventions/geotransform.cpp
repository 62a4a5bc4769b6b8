#include "driver/conventions/geotransform.h"

#include <cpl_conv.h>
#include <cpl_error.h>
#include <cpl_string.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "driver/conventions/cf/attributes.h"
#include "driver/conventions/zarr_conventions.h"
#include "driver/gdal/messages.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;
using zarrcore::find_member;
using zarrcore::Json;

// How far evenly spaced numbers may be from where they should be. They may have been rounded to
// float32, which has 24 bits, if that leaves enough bits to decide whether they are even.
double rounding(std::span<const double> numbers, double step) {
  const double magnitude = std::max(std::abs(numbers.front()), std::abs(numbers.back()));
  const double of_floats = magnitude * 0x1p-22;
  const double tolerance = std::abs(step) * 1e-3;
  return of_floats <= std::abs(step) / 4 ? std::max(tolerance, of_floats) : tolerance;
}

double with_digits(double number, int digits) {
  // CPLSPrintf() takes no precision from an argument.
  const std::string format = "%." + std::to_string(digits) + 'g';
  return CPLAtof(CPLSPrintf(format.c_str(), number));
}

// The edge of the first cell: if that gives the same centre, the decimal number that is meant.
double first_edge(double first_centre, double step) {
  const double edge = first_centre - step / 2;
  const double meant = with_digits(edge, 15);
  return meant + 0.5 * step == first_centre ? meant : edge;
}

// The step with the fewest digits that gives exactly these coordinates, computed as cell_centres()
// does; `step` if there is none. Differences of coordinates have rounding errors.
double meant_step(std::span<const double> centres, double step) {
  for (int digits = 1; digits <= 15; ++digits) {
    const double meant = with_digits(step, digits);
    const double edge = first_edge(centres.front(), meant);
    const auto is_exact = [&](std::size_t i) {
      return edge + (static_cast<double>(i) + 0.5) * meant == centres[i];
    };
    bool are_exact = is_exact(centres.size() - 1);
    for (std::size_t i = 0; are_exact && i < centres.size(); ++i) are_exact = is_exact(i);
    if (are_exact) return meant;
  }
  return step;
}

// In GDAL's order; empty if the list is null or anything but six numbers.
std::optional<GeoTransform> six_numbers(const Json* list) {
  GeoTransform transform{};
  if (list == nullptr || !list->is_array() || list->size() != transform.size()) return std::nullopt;
  for (std::size_t i = 0; i < transform.size(); ++i) {
    if (!(*list)[i].is_number()) return std::nullopt;
    transform[i] = (*list)[i].get<double>();
  }
  return transform;
}

double number_in(const Json& object, const char* key) {
  const Json* value = find_member(object, key);
  if (value == nullptr || !value->is_number()) {
    throw Error("a point has no number \"" + std::string(key) + '"');
  }
  return value->get<double>();
}

GroundControlPoint parse_point(const Json& feature) {
  const Json* properties = find_member(feature, "properties");
  const Json* geometry = find_member(feature, "geometry");
  const Json* place = geometry != nullptr ? find_member(*geometry, "coordinates") : nullptr;
  const bool is_point = properties != nullptr && place != nullptr && place->is_array() &&
                        (place->size() == 2 || place->size() == 3);
  if (!is_point) throw Error("a feature is not a point with properties");
  for (const Json& number : *place) {
    if (!number.is_number()) throw Error("a point has coordinates that are not numbers");
  }
  GroundControlPoint point{cf::text_in(*properties, "id"), cf::text_in(*properties, "info"),
                           number_in(*properties, "col"), number_in(*properties, "row")};
  point.x = (*place)[0].get<double>();
  point.y = (*place)[1].get<double>();
  if (place->size() == 3) point.z = (*place)[2].get<double>();
  return point;
}

// With `warns`, reports a transform that is for another shape.
bool is_for_shape(const Evidence& evidence, const EvidenceScope& scope, const RasterAxes& axes,
                  const char* key, bool warns = true) {
  const Json* stated = zarrcore::find_value(*scope.attributes, key);
  if (stated == nullptr) {
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

// GDAL's own view of an array as a raster honours this attribute in every format.
FoundTransform from_gdal(const Evidence& evidence, const RasterAxes& /*axes*/) {
  return {six_numbers(find_member(*evidence.attributes, "gdal:geotransform")),
          "the attribute gdal:geotransform", evidence.attributes};
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
  const auto gdal = six_numbers(list);
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

std::optional<RegularAxis> find_regular_axis(std::span<const double> centres) {
  if (centres.size() < 2) return std::nullopt;
  // Rounding of the coordinates affects the mean step least.
  const double step = (centres.back() - centres.front()) / static_cast<double>(centres.size() - 1);
  if (step == 0 || !std::isfinite(step)) return std::nullopt;
  const double tolerance = rounding(centres, step);
  for (std::size_t i = 0; i < centres.size(); ++i) {
    // Distances from the first centre: a sum of steps would accumulate rounding errors.
    const double distance = centres[i] - centres.front();
    if (!(std::abs(distance - static_cast<double>(i) * step) <= tolerance)) return std::nullopt;
  }
  return RegularAxis{centres.front(), meant_step(centres, step)};
}

std::optional<RegularAxis> find_cells(std::span<const double> coordinates,
                                      std::span<const double> bounds, double sign) {
  const auto by_centres = find_regular_axis(coordinates);
  const std::size_t count = coordinates.size();
  if (count == 0 || bounds.size() != 2 * count) return by_centres;
  if (count > 1) sign = coordinates[1] < coordinates[0] ? -1 : 1;
  const double tolerance = rounding(bounds, bounds[1] - bounds[0]);
  std::vector<double> edges;
  for (std::size_t i = 0; i < count; ++i) {
    const auto [low, high] = std::minmax(bounds[2 * i], bounds[2 * i + 1]);
    const bool is_inside =
        coordinates[i] >= low - tolerance && coordinates[i] <= high + tolerance;  // not if NaN
    const double begin = sign > 0 ? low : high;
    if (edges.empty()) edges.push_back(begin);
    if (!is_inside || !(std::abs(edges.back() - begin) <= tolerance)) return by_centres;
    edges.push_back(sign > 0 ? high : low);
  }
  const auto cells = find_regular_axis(edges);
  if (!cells) return by_centres;
  const double first_centre = cells->first_centre + cells->step / 2;
  // Coordinates in the middle are the same more precisely.
  const bool are_centres =
      by_centres && std::abs(by_centres->first_centre - first_centre) <= tolerance;
  return are_centres ? by_centres : RegularAxis{first_centre, cells->step};
}

std::vector<double> cell_centres(double origin, double step, std::uint64_t size) {
  std::vector<double> centres(size);
  for (std::uint64_t i = 0; i < size; ++i) {
    centres[i] = origin + (static_cast<double>(i) + 0.5) * step;
  }
  return centres;
}

std::vector<double> coarser_coordinates(std::span<const double> centres, int factor,
                                        std::uint64_t size) {
  std::vector<double> coarser(centres.empty() ? 0 : size);
  const auto block = static_cast<std::uint64_t>(factor);
  const auto axis = find_regular_axis(centres);
  for (std::uint64_t i = 0; i < coarser.size(); ++i) {
    coarser[i] = axis ? axis->first_centre +
                            (static_cast<double>(i * block) + (factor - 1) / 2.0) * axis->step
                      : centres[std::min<std::uint64_t>(i * block + block / 2, centres.size() - 1)];
  }
  return coarser;
}

GeoTransform make_geotransform(const RegularAxis& x, const RegularAxis& y) {
  return {first_edge(x.first_centre, x.step), x.step, 0,
          first_edge(y.first_centre, y.step), 0,      y.step};
}

std::optional<GeoTransform> parse_geotransform(const Json& grid_mapping_attributes) {
  if (auto listed = six_numbers(find_member(grid_mapping_attributes, "GeoTransform")))
    return listed;
  const std::string* text = zarrcore::find_string(grid_mapping_attributes, "GeoTransform");
  if (text == nullptr) return std::nullopt;
  const CPLStringList tokens(CSLTokenizeString2(text->c_str(), " ,", 0));
  GeoTransform transform{};
  if (tokens.size() != static_cast<int>(transform.size())) return std::nullopt;
  for (int i = 0; i < tokens.size(); ++i) {
    if (CPLGetValueType(tokens[i]) == CPL_VALUE_STRING) return std::nullopt;
    transform[static_cast<std::size_t>(i)] = CPLAtof(tokens[i]);
  }
  return transform;
}

std::string format_geotransform(const GeoTransform& transform) {
  std::string text;
  for (const double number : transform) {
    if (!text.empty()) text += ' ';
    text += zarrcore::dump_json(number);
  }
  return text;
}

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

bool agree(const GeoTransform& a, const GeoTransform& b, int columns, int rows) {
  const double x_tolerance = 0.1 * std::abs(b[1]);
  const double y_tolerance = 0.1 * std::abs(b[5]);
  for (const int column : {0, columns}) {
    for (const int row : {0, rows}) {
      const auto at = [&](const GeoTransform& t, std::size_t first) {
        return t[first] + t[first + 1] * column + t[first + 2] * row;
      };
      if (!(std::abs(at(a, 0) - at(b, 0)) <= x_tolerance) ||
          !(std::abs(at(a, 3) - at(b, 3)) <= y_tolerance)) {
        return false;
      }
    }
  }
  return true;
}

std::vector<GroundControlPoint> parse_gcps(const Json& attributes, const std::string& name) {
  const Json* value = find_member(attributes, "gcps");
  if (value == nullptr) return {};
  try {
    const std::string* text = zarrcore::as_string(*value);
    const Json collection = text != nullptr ? zarrcore::parse_json(*text) : *value;
    const Json* features = find_member(collection, "features");
    if (features == nullptr || !features->is_array()) throw Error("it has no list \"features\"");
    std::vector<GroundControlPoint> points;
    for (const Json& feature : *features) points.push_back(parse_point(feature));
    return points;
  } catch (const zarrcore::OutOfMemory&) {
    throw;
  } catch (const Error& error) {
    report(CE_Warning, CPLE_AppDefined, "Zarr: the attribute gcps of %s is not used: %s",
           name.c_str(), error.what());
    return {};
  }
}

std::string format_gcps(std::span<const GroundControlPoint> points) {
  Json features = Json::array();
  for (const GroundControlPoint& point : points) {
    features.push_back(
        {{"type", "Feature"},
         {"properties",
          {{"id", point.id}, {"info", point.info}, {"row", point.line}, {"col", point.pixel}}},
         {"geometry",
          {{"type", "Point"}, {"coordinates", Json::array({point.x, point.y, point.z})}}}});
  }
  return zarrcore::dump_json({{"type", "FeatureCollection"}, {"features", std::move(features)}});
}

}  // namespace gdal_zarr
