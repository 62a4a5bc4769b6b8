#include "driver/conventions/axis.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "driver/conventions/cf/time.h"
#include "driver/gdal/compat.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/text.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;
using zarrcore::Json;

std::string text_of(const zarrcore::Json& attributes, std::string_view name) {
  const std::string* text = zarrcore::find_string(attributes, name);
  return text == nullptr ? std::string() : zarrcore::lower_case(*text);
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

enum class Axis : std::uint8_t { unknown, x, y, z, time };

Axis axis_of_standard_name(std::string_view name) {
  if (is_one_of(name, {"longitude", "grid_longitude", "projection_x_coordinate",
                       "projection_x_angular_coordinate"})) {
    return Axis::x;
  }
  if (is_one_of(name, {"latitude", "grid_latitude", "projection_y_coordinate",
                       "projection_y_angular_coordinate"})) {
    return Axis::y;
  }
  if (is_one_of(name, {"time", "forecast_reference_time"})) return Axis::time;
  if (is_one_of(name, {"height", "altitude", "depth", "air_pressure", "model_level_number"})) {
    return Axis::z;
  }
  return Axis::unknown;
}

Axis axis_of_units(std::string_view units) {
  if (is_one_of(units,
                {"degrees_east", "degree_east", "degree_e", "degrees_e", "degreee", "degreese"})) {
    return Axis::x;
  }
  if (is_one_of(units, {"degrees_north", "degree_north", "degree_n", "degrees_n", "degreen",
                        "degreesn"})) {
    return Axis::y;
  }
  return is_time_unit(std::string(units)) ? Axis::time : Axis::unknown;
}

Axis axis_of_letter(std::string_view letter) {
  if (letter == "x") return Axis::x;
  if (letter == "y") return Axis::y;
  if (letter == "z") return Axis::z;
  return letter == "t" ? Axis::time : Axis::unknown;
}

Axis axis_of_name(std::string_view name) {
  if (is_one_of(name, {"x", "lon", "long", "longitude", "easting", "rlon"})) return Axis::x;
  if (is_one_of(name, {"y", "lat", "latitude", "northing", "rlat"})) return Axis::y;
  if (is_one_of(name, {"t", "time"})) return Axis::time;
  if (is_one_of(name, {"z", "height", "depth", "altitude", "elevation"})) return Axis::z;
  return Axis::unknown;
}

void skip_spaces(std::string_view& text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
}

DimensionUnit parse_unit_text(std::string_view text) {
  DimensionUnit unit;
  skip_spaces(text);
  // Names such as "nanometre" and "inch" do not begin with a number, though "nan" may look like
  // one.
  const bool may_be_number = text.find_first_of("0123456789.") <= (text.starts_with('-') ? 1U : 0U);
  if (may_be_number) {
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), unit.multiplier);
    if (error == std::errc::result_out_of_range) {
      throw Error('"' + std::string(text) + "\" is out of range");
    }
    if (error == std::errc()) {
      text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    }
  }
  skip_spaces(text);
  while (text.ends_with(' ')) text.remove_suffix(1);
  unit.base = text;
  return unit;
}

std::optional<DimensionUnit> parse_unit(const Json& value) {
  if (value.is_null()) return std::nullopt;
  std::optional<DimensionUnit> unit;
  if (value.is_string()) unit = parse_unit_text(value.get_ref<const std::string&>());
  const bool is_pair =
      value.is_array() && value.size() == 2 && value[0].is_number() && value[1].is_string();
  if (is_pair) unit = DimensionUnit{value[0].get<double>(), value[1].get<std::string>()};
  if (!unit) throw Error(value.dump() + " is not a unit");
  if (unit->multiplier == 0 || !std::isfinite(unit->multiplier)) {
    throw Error(value.dump() + " is not a length of a step");
  }
  return unit;
}

}  // namespace

AxisRole find_axis_role(const std::string& dimension_name, const zarrcore::Json& attributes) {
  Axis axis = axis_of_standard_name(text_of(attributes, "standard_name"));
  if (axis == Axis::unknown) axis = axis_of_units(text_of(attributes, "units"));
  if (axis == Axis::unknown) axis = axis_of_letter(text_of(attributes, "axis"));
  if (axis == Axis::unknown) axis = axis_of_name(zarrcore::lower_case(dimension_name));
  switch (axis) {
    case Axis::x:
      return {GDAL_DIM_TYPE_HORIZONTAL_X, "EAST"};
    case Axis::y:
      return {GDAL_DIM_TYPE_HORIZONTAL_Y, "NORTH"};
    case Axis::time:
      return {GDAL_DIM_TYPE_TEMPORAL, ""};
    case Axis::z: {
      const std::string positive = text_of(attributes, "positive");
      return {GDAL_DIM_TYPE_VERTICAL, positive == "up"     ? "UP"
                                      : positive == "down" ? "DOWN"
                                                           : std::string()};
    }
    case Axis::unknown:
      break;
  }
  return {};
}

zarrcore::Json axis_attributes(const std::string& dimension_name, const AxisRole& role) {
  zarrcore::Json attributes = zarrcore::Json::object();
  if (find_axis_role(dimension_name, attributes).type != role.type) {
    if (role.type == GDAL_DIM_TYPE_HORIZONTAL_X) attributes["axis"] = "X";
    if (role.type == GDAL_DIM_TYPE_HORIZONTAL_Y) attributes["axis"] = "Y";
    if (role.type == GDAL_DIM_TYPE_VERTICAL) attributes["axis"] = "Z";
    if (role.type == GDAL_DIM_TYPE_TEMPORAL) attributes["axis"] = "T";
  }
  if (role.type == GDAL_DIM_TYPE_VERTICAL) {
    if (role.direction == "UP") attributes["positive"] = "up";
    if (role.direction == "DOWN") attributes["positive"] = "down";
  }
  return attributes;
}

std::vector<std::optional<DimensionUnit>> dimension_units(const Json& array_attributes,
                                                          std::size_t rank) {
  std::vector<std::optional<DimensionUnit>> units;
  const Json* list = zarrcore::find_member(array_attributes, "dimension_units");
  if (list == nullptr) return units;
  try {
    if (!list->is_array()) throw Error("it is not a list");
    if (list->size() != rank) {
      throw Error("it has " + std::to_string(list->size()) + " members, and the array has " +
                  std::to_string(rank) + " dimensions");
    }
    for (const Json& value : *list) units.push_back(parse_unit(value));
  } catch (const Error& error) {
    throw Error(std::string("the attribute dimension_units is not used: ") + error.what());
  }
  return units;
}

}  // namespace gdal_zarr
