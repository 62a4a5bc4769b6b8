#include "driver/conventions/gcps.h"

#include "driver/gdal/messages.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;
using zarrcore::find_member;
using zarrcore::Json;

double number_in(const Json& object, const char* key) {
  const Json* value = find_member(object, key);
  if (value == nullptr || !value->is_number()) {
    throw Error("a point has no number \"" + std::string(key) + '"');
  }
  return value->get<double>();
}

std::string text_in(const Json& object, const char* key) {
  const std::string* text = zarrcore::find_string(object, key);
  return text != nullptr ? *text : std::string();
}

GroundControlPoint parse_point(const Json& feature) {
  const Json* properties = find_member(feature, "properties");
  const Json* geometry = find_member(feature, "geometry");
  const Json* place = geometry != nullptr ? find_member(*geometry, "coordinates") : nullptr;
  const bool is_point = properties != nullptr && place != nullptr && place->is_array() &&
                        (place->size() == 2 || place->size() == 3);
  if (!is_point) throw Error("a feature is no point with properties");
  for (const Json& number : *place) {
    if (!number.is_number()) throw Error("a point has coordinates that are no numbers");
  }
  GroundControlPoint point{text_in(*properties, "id"), text_in(*properties, "info"),
                           number_in(*properties, "col"), number_in(*properties, "row")};
  point.x = (*place)[0].get<double>();
  point.y = (*place)[1].get<double>();
  if (place->size() == 3) point.z = (*place)[2].get<double>();
  return point;
}

}  // namespace

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
