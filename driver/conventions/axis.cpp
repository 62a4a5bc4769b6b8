#include "driver/conventions/axis.h"

#include <cpl_string.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>
#include <string_view>

#include "driver/conventions/cf/attributes.h"
#include "driver/conventions/cf/grid_mapping.h"
#include "driver/conventions/cf/time.h"
#include "driver/gdal/compat.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/text.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;
using zarrcore::Json;

// The words for an axis, which spaces separate, in lower case.
struct AxisWords {
  const char* type;  // and direction, in GDAL's words
  const char* direction;
  std::string_view letter;  // CF's attribute `axis`
  std::string_view standard_names;
  std::string_view units;
  std::string_view dimensions;  // their names
};

constexpr AxisWords kAxes[] = {
    {GDAL_DIM_TYPE_HORIZONTAL_X, "EAST", "x",
     "longitude grid_longitude projection_x_coordinate projection_x_angular_coordinate",
     "degrees_east degree_east degree_e degrees_e degreee degreese",
     "x lon long longitude easting rlon"},
    {GDAL_DIM_TYPE_HORIZONTAL_Y, "NORTH", "y",
     "latitude grid_latitude projection_y_coordinate projection_y_angular_coordinate",
     "degrees_north degree_north degree_n degrees_n degreen degreesn",
     "y lat latitude northing rlat"},
    {GDAL_DIM_TYPE_TEMPORAL, "", "t", "time forecast_reference_time", "", "t time"},
    {GDAL_DIM_TYPE_VERTICAL, "", "z", "height altitude depth air_pressure model_level_number", "",
     "z height depth altitude elevation"}};
constexpr const AxisWords* kTime = &kAxes[2];

// Null if there is none.
const AxisWords* find_axis(std::string_view AxisWords::* list, const std::string& word) {
  const auto* found = std::ranges::find_if(
      kAxes, [&](const AxisWords& axis) { return cf::is_word_of(axis.*list, word); });
  return found != std::end(kAxes) ? found : nullptr;
}

struct CoordinateWords {
  const char* standard_name;  // null: CF has none
  const char* long_name;
};

// For X and Y, by kind of CRS.
constexpr CoordinateWords kUnknownAxes[] = {{nullptr, "x coordinate"}, {nullptr, "y coordinate"}};
constexpr CoordinateWords kGeographic[] = {{"longitude", "longitude"}, {"latitude", "latitude"}};
constexpr CoordinateWords kRotated[] = {{"grid_longitude", "longitude in the rotated grid"},
                                        {"grid_latitude", "latitude in the rotated grid"}};
constexpr CoordinateWords kProjected[] = {
    {"projection_x_coordinate", "x coordinate of projection"},
    {"projection_y_coordinate", "y coordinate of projection"}};

// CF's words for degrees; other angles are stated as a number of degrees.
std::string angular_unit(const OGRSpatialReference& crs, const char* degrees) {
  const double size = crs.GetAngularUnits() * 180 / std::numbers::pi;
  return std::abs(size - 1) < 1e-9 ? degrees : zarrcore::dump_json(size) + " degrees";
}

DimensionUnit parse_unit_text(std::string_view text) {
  DimensionUnit unit;
  cf::skip_spaces(text);
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
  cf::skip_spaces(text);
  unit.base = zarrcore::without_trailing(text, ' ');
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
  const auto text_of = [&](const char* name) {
    return zarrcore::lower_case(cf::text_in(attributes, name));
  };
  const AxisWords* axis = find_axis(&AxisWords::standard_names, text_of("standard_name"));
  if (axis == nullptr) axis = find_axis(&AxisWords::units, text_of("units"));
  if (axis == nullptr && is_time_unit(text_of("units"))) axis = kTime;
  if (axis == nullptr) axis = find_axis(&AxisWords::letter, text_of("axis"));
  if (axis == nullptr) {
    axis = find_axis(&AxisWords::dimensions, zarrcore::lower_case(dimension_name));
  }
  if (axis == nullptr) return {};
  const std::string positive = text_of("positive");
  const bool is_vertical = std::string_view(axis->type) == GDAL_DIM_TYPE_VERTICAL;
  if (is_vertical && positive == "up") return {axis->type, "UP"};
  if (is_vertical && positive == "down") return {axis->type, "DOWN"};
  return {axis->type, axis->direction};
}

zarrcore::Json axis_attributes(const std::string& dimension_name, const AxisRole& role) {
  zarrcore::Json attributes = zarrcore::Json::object();
  if (find_axis_role(dimension_name, attributes).type != role.type) {
    for (const AxisWords& axis : kAxes) {
      if (role.type == axis.type)
        attributes["axis"] = CPLString(std::string(axis.letter)).toupper();
    }
  }
  if (role.type == GDAL_DIM_TYPE_VERTICAL) {
    if (role.direction == "UP") attributes["positive"] = "up";
    if (role.direction == "DOWN") attributes["positive"] = "down";
  }
  return attributes;
}

Json coordinate_attributes(bool is_x, const OGRSpatialReference* crs) {
  const CoordinateWords* words = kUnknownAxes;
  std::string units;
  if (crs != nullptr && crs->IsProjected()) {
    words = kProjected;
    units = linear_unit(*crs);
  } else if (crs != nullptr && crs->IsDerivedGeographic()) {
    words = kRotated;
    units = angular_unit(*crs, "degrees");
  } else if (crs != nullptr && crs->IsGeographic()) {
    words = kGeographic;
    units = angular_unit(*crs, is_x ? "degrees_east" : "degrees_north");
  } else if (crs != nullptr && crs->IsLocal()) {
    units = linear_unit(*crs);
  }
  const auto& [standard_name, long_name] = words[is_x ? 0 : 1];
  Json attributes = {{"axis", is_x ? "X" : "Y"}, {"long_name", long_name}};
  if (standard_name != nullptr) attributes["standard_name"] = standard_name;
  if (!units.empty()) attributes["units"] = units;
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
