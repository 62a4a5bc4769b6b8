#include "driver/conventions/geotransform.h"

#include <cpl_conv.h>
#include <cpl_string.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "driver/conventions/cf/attributes.h"
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

std::optional<GeoTransform> list_of_six(const zarrcore::Json& attributes, const char* name) {
  const zarrcore::Json* list = zarrcore::find_member(attributes, name);
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

std::optional<GeoTransform> parse_geotransform(const zarrcore::Json& grid_mapping_attributes) {
  if (auto listed = list_of_six(grid_mapping_attributes, "GeoTransform")) return listed;
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

std::optional<GeoTransform> own_geotransform(const zarrcore::Json& array_attributes) {
  return list_of_six(array_attributes, "gdal:geotransform");
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
