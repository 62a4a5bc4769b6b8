#include "driver/conventions/cf/projection.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <vector>

#include "driver/conventions/cf/attributes.h"
#include "driver/gdal/crs_text.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr::cf {
namespace {

using Crs = OGRSpatialReference;
using zarrcore::Error;
using zarrcore::find_member;
using zarrcore::Json;

bool is_similar_name(std::string_view a, std::string_view b) {
  return simplified(a) == simplified(b);
}

// Some attributes are implied by others. These functions set them, so that a row of the table needs
// only its own attributes. `geographic` is the CRS below the projection.

// CF requires a parallel; other writers (GDAL) state only the scale at the origin.
void complete_conic(Json& attributes, const Crs& /*geographic*/) {
  const Attributes given(attributes);
  const std::vector<double> parallels = given.numbers(kParallel);
  if (parallels.empty() && !given.number(kOriginScale)) {
    throw Error(std::string(kParallel) + " is missing");
  }
  if (parallels.size() == 1 && !given.number(kOriginLatitude)) {
    attributes[kOriginLatitude] = parallels.front();
  }
}

void complete_cylindrical(Json& attributes, const Crs& geographic) {
  const Attributes given(attributes);
  double parallel = given.number(kParallel).value_or(0.0);
  const double scale = given.positive(kOriginScale).value_or(1.0);
  if (parallel == 0 && scale != 1) {
    if (scale > 1) throw Error(std::string(kOriginScale) + " is above 1");
    // The parallel with the length of the grid's equator.
    const double square = scale * scale;
    const double sine =
        std::sqrt((1 - square) / (1 - square * geographic.GetSquaredEccentricity()));
    parallel = std::asin(sine) * 180 / std::numbers::pi;
  }
  attributes[kParallel] = parallel;
}

void complete_mercator(Json& attributes, const Crs& /*geographic*/) {
  attributes[kParallel] = Attributes(attributes).number(kParallel).value_or(0.0);
  attributes[kOriginLatitude] = 0;
}

void complete_polar(Json& attributes, const Crs& /*geographic*/) {
  const Attributes given(attributes);
  if (!given.number(kPoleLongitude)) attributes[kPoleLongitude] = given.required(kOriginLongitude);
  const auto parallel = given.number(kParallel);
  const auto latitude = given.number(kOriginLatitude);
  const double pole =
      parallel && !latitude ? std::copysign(90.0, *parallel) : given.required(kOriginLatitude);
  if (std::abs(pole) != 90) throw Error(std::string(kOriginLatitude) + " is neither 90 nor -90");
  attributes[kOriginLatitude] = pole;
  // Some files of the south have no sign before the parallel.
  attributes[kParallel] = std::copysign(parallel.value_or(pole), pole);
}

// `sweep_angle_axis` is the axis about which the outer gimbal of the satellite's view turns, and
// `fixed_angle_axis` the other one. Without them it is y, as in PROJ.
void complete_satellite(Json& attributes, const Crs& /*geographic*/) {
  const Attributes given(attributes);
  if (given.number(kOriginLatitude).value_or(0.0) != 0) {
    throw Error(std::string(kOriginLatitude) + " is not 0");
  }
  const std::string sweep = simplified(given.text(kSweepAxis));
  const std::string fixed = simplified(given.text("fixed_angle_axis"));
  if (sweep.empty()) {
    if (fixed != "x" && fixed != "y" && !fixed.empty()) {
      throw Error("fixed_angle_axis is neither x nor y");
    }
    attributes[kSweepAxis] = fixed == "y" ? "x" : "y";
  } else {
    if (sweep != "x" && sweep != "y") {
      throw Error(std::string(kSweepAxis) + " is neither x nor y");
    }
    attributes[kSweepAxis] = sweep;
  }
}

// Older files state a central meridian.
void complete_sinusoidal(Json& attributes, const Crs& /*geographic*/) {
  if (const auto meridian = Attributes(attributes).number(kCentralMeridian)) {
    attributes[kOriginLongitude] = *meridian;
  }
}

Json completed(const std::string& grid_mapping, Json attributes, const Crs& geographic) {
  struct Completion {
    const char* grid_mapping;
    void (*complete)(Json& attributes, const Crs& geographic);
  };
  constexpr Completion kCompletions[] = {{"geostationary", complete_satellite},
                                         {"lambert_conformal_conic", complete_conic},
                                         {"lambert_cylindrical_equal_area", complete_cylindrical},
                                         {"mercator", complete_mercator},
                                         {"polar_stereographic", complete_polar},
                                         {"sinusoidal", complete_sinusoidal}};
  for (const Completion& completion : kCompletions) {
    if (is_similar_name(completion.grid_mapping, grid_mapping)) {
      completion.complete(attributes, geographic);
    }
  }
  return attributes;
}

bool is_variant(Variant variant, const Attributes& attributes) {
  const auto is_at_origin = [&] {
    const std::vector<double> parallels = attributes.numbers(kParallel);
    return parallels.empty() ||
           (parallels.size() == 1 && parallels.front() == attributes.number(kOriginLatitude));
  };
  switch (variant) {
    case Variant::only:
      return true;
    case Variant::at_origin:
      return is_at_origin();
    case Variant::off_origin:
      return !is_at_origin();
    case Variant::sweep_x:
      return attributes.text(kSweepAxis) == "x";
    case Variant::sweep_y:
      return attributes.text(kSweepAxis) == "y";
  }
  return false;
}

// The variants of a projection cover all cases, so one is always found.
const Projection& find_projection(const std::string& grid_mapping, const Attributes& attributes) {
  const auto rows = projections();
  return *std::find_if(rows.begin(), rows.end(), [&](const Projection& row) {
    return is_similar_name(row.grid_mapping, grid_mapping) && is_variant(row.variant, attributes);
  });
}

bool is_list(const Parameter& parameter) {
  return std::string_view(parameter.attribute) == kParallel;
}

// In degrees or metres. `position` is the parameter's among the `count` of its attribute.
double read_value(const Attributes& attributes, const Parameter& parameter, std::size_t position,
                  std::size_t count, double metres) {
  const char* attribute = parameter.attribute;
  if (std::string_view(attribute) == kAlwaysZero) return 0;
  switch (parameter.quantity) {
    case Quantity::scale:
      return attributes.positive(attribute).value_or(1.0);
    case Quantity::distance:
      return attributes.number(attribute).value_or(0.0) * metres;
    case Quantity::height:
      attributes.positive(attribute);
      break;
    case Quantity::angle:
      if (!is_list(parameter) || count == 1) break;
      const std::vector<double> list = attributes.numbers(attribute);
      if (list.size() > count) throw Error(std::string(attribute) + " holds more than two numbers");
      if (!list.empty()) return list[std::min(position, list.size() - 1)];
      break;
  }
  return attributes.required(attribute);
}

const char* unit_of(Quantity quantity) {
  if (quantity == Quantity::angle) return "degree";
  return quantity == Quantity::scale ? "unity" : "metre";
}

Json proj_object(const ProjName& name) {
  Json object = {{"name", name.name}};
  if (name.code != 0) object["id"] = {{"authority", "EPSG"}, {"code", name.code}};
  return object;
}

Json make_conversion(const Projection& projection, const Attributes& attributes, double metres) {
  Json list = Json::array();
  const auto parameters = projection.parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& parameter = parameters[i];
    const auto is_same = [&](const Parameter& other) {
      return std::string_view(other.attribute) == parameter.attribute;
    };
    const auto position = std::ranges::count_if(parameters.first(i), is_same);
    const auto count = std::ranges::count_if(parameters, is_same);
    Json& item = list.emplace_back(proj_object(parameter.proj));
    item["value"] = read_value(attributes, parameter, static_cast<std::size_t>(position),
                               static_cast<std::size_t>(count), metres);
    item["unit"] = unit_of(parameter.quantity);
  }
  return {{"name", projection.method.name},
          {"method", proj_object(projection.method)},
          {"parameters", std::move(list)}};
}

// Around a pole both axes point along meridians: away from the north pole, towards the north from
// the south pole.
Json make_axes(const Projection& projection, const Attributes& attributes) {
  // As GDAL makes them.
  const std::string_view mapping = projection.grid_mapping;
  const bool may_be_polar =
      mapping == "polar_stereographic" ||
      (mapping == "lambert_azimuthal_equal_area" && attributes.number(kOriginLongitude) == 0.0);
  const double latitude = may_be_polar ? attributes.number(kOriginLatitude).value_or(0.0) : 0.0;
  Json easting = {{"name", "Easting"}, {"abbreviation", "E"}, {"unit", "metre"}};
  Json northing = {{"name", "Northing"}, {"abbreviation", "N"}, {"unit", "metre"}};
  if (std::abs(latitude) == 90) {
    const char* direction = latitude > 0 ? "south" : "north";
    easting["direction"] = direction;
    easting["meridian"]["longitude"] = 90;
    northing["direction"] = direction;
    northing["meridian"]["longitude"] = latitude > 0 ? 180 : 0;
  } else {
    easting["direction"] = "east";
    northing["direction"] = "north";
  }
  return {std::move(easting), std::move(northing)};
}

// Returns true if a method or a parameter of PROJJSON is this one. PROJ has further methods for
// spheres and for three dimensions, with the same parameters.
bool is_named(const Json& object, const ProjName& wanted) {
  const Json* id = find_member(object, "id");
  const Json* code = id != nullptr ? find_member(*id, "code") : nullptr;
  if (code != nullptr && *code == wanted.code && wanted.code != 0) return true;
  const Json* name = find_member(object, "name");
  if (name == nullptr || !name->is_string()) return false;
  const std::string simple = simplified(name->get_ref<const std::string&>());
  const std::string known = simplified(wanted.name);
  return simple == known || simple == known + "spherical" || simple == known + "3d";
}

// The value of a parameter in degrees, in units of `metres`, or in metres for heights.
double written_value(const Json& parameter, Quantity quantity, double metres) {
  // PROJJSON states degrees, metres and 1 as text, other units as objects.
  const Json* unit = find_member(parameter, "unit");
  const Json* factor = unit != nullptr ? find_member(*unit, "conversion_factor") : nullptr;
  double size = factor != nullptr ? factor->get<double>() : 1;
  if (quantity == Quantity::angle && factor != nullptr) size *= 180 / std::numbers::pi;
  if (quantity == Quantity::distance) size /= metres;
  // The two may have been rounded differently.
  const bool is_same_unit = std::abs(size - 1) < 1e-12;
  return parameter["value"].get<double>() * (is_same_unit ? 1 : size);
}

// The inverse of completed(): attributes that CF requires although others imply them.
void write_implied(Json& attributes, const Projection& projection) {
  const std::string_view mapping = projection.grid_mapping;
  if (mapping == "lambert_conformal_conic" && projection.variant == Variant::at_origin) {
    attributes[kParallel] = attributes[kOriginLatitude];
  }
  if (mapping == "polar_stereographic" && projection.variant == Variant::off_origin) {
    attributes[kOriginLatitude] = std::copysign(90.0, attributes[kParallel].get<double>());
  }
  if (mapping == "geostationary") {
    attributes[kOriginLatitude] = 0.0;
    attributes[kSweepAxis] = projection.variant == Variant::sweep_x ? "x" : "y";
  }
}

}  // namespace

bool is_projection(const std::string& grid_mapping) {
  return std::ranges::any_of(projections(), [&](const Projection& row) {
    return is_similar_name(row.grid_mapping, grid_mapping);
  });
}

Crs read_projection(const Json& given, const Crs& geographic, const std::string& linear_unit) {
  const std::string mapping = Attributes(given).text("grid_mapping_name");
  const Json all = completed(mapping, given, geographic);
  const Attributes attributes(all);
  const Projection& projection = find_projection(mapping, attributes);
  const bool is_satellite =
      projection.variant == Variant::sweep_x || projection.variant == Variant::sweep_y;
  Unit unit = read_unit(linear_unit);
  // Coordinates that are angles of a satellite's view are multiplied by its height.
  if (unit.kind == UnitKind::none || (is_satellite && unit.kind == UnitKind::angle)) {
    unit = read_unit("m");
  } else if (unit.kind != UnitKind::length) {
    throw Error("the unit of the coordinates is not a length: " + linear_unit);
  }
  const std::string name = attributes.name("projected_crs_name");
  const auto crs =
      import_crs(Json{{"type", "ProjectedCRS"},
                      {"name", name.empty() ? "unknown" : name},
                      {"base_crs", export_projjson(geographic)},
                      {"conversion", make_conversion(projection, attributes, unit.size)},
                      {"coordinate_system",
                       {{"subtype", "Cartesian"}, {"axis", make_axes(projection, attributes)}}}});
  if (!crs) throw Error("GDAL makes no CRS of the parameters");
  // Numbers in PROJJSON have fewer digits.
  check_crs(crs->CopyGeogCSFrom(&geographic));
  // Converts every length among the parameters, including heights, which CF has in metres.
  check_crs(crs->SetLinearUnitsAndUpdateParameters(unit.name.c_str(), unit.size));
  return *crs;
}

const Projection* find_projection(const Json& projjson) {
  const Json* conversion = find_member(projjson, "conversion");
  const Json* method = conversion != nullptr ? find_member(*conversion, "method") : nullptr;
  if (method == nullptr) return nullptr;
  const auto rows = projections();
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const Projection& row) {
    return is_named(*method, row.method);
  });
  return found == rows.end() ? nullptr : &*found;
}

void write_parameters(Json& attributes, const Projection& projection, const Json& projjson,
                      double metres) {
  const Json& given = projjson["conversion"]["parameters"];
  Json written = Json::object();
  for (const Parameter& parameter : projection.parameters) {
    if (std::string_view(parameter.attribute) == kAlwaysZero) continue;
    const auto found = std::find_if(given.begin(), given.end(), [&](const Json& candidate) {
      return is_named(candidate, parameter.proj);
    });
    if (found == given.end()) continue;
    const double value = written_value(*found, parameter.quantity, metres);
    Json& attribute = written[parameter.attribute];
    if (attribute.is_null()) {
      attribute = value;
    } else if (is_list(parameter)) {
      attribute = {attribute, value};
    }
  }
  write_implied(written, projection);
  constexpr const char* kOrder[] = {
      kPoleLongitude,   kAzimuth,  kOriginLatitude, kOriginLongitude, kHeight,  kSweepAxis,
      kCentralMeridian, kParallel, kOriginScale,    kMeridianScale,   kEasting, kNorthing};
  for (const char* attribute : kOrder) {
    if (written.contains(attribute)) attributes[attribute] = std::move(written[attribute]);
  }
}

}  // namespace gdal_zarr::cf
