#include "driver/conventions/evidence.h"

#include <cpl_conv.h>
#include <cpl_port.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "driver/conventions/axis.h"
#include "driver/conventions/cf/attributes.h"
#include "driver/conventions/cf/grid_mapping.h"
#include "driver/conventions/zarr_conventions.h"
#include "driver/gdal/compat.h"
#include "driver/gdal/crs_text.h"
#include "zarrcore/base/path.h"
#include "zarrcore/base/text.h"

namespace gdal_zarr {
namespace {

using zarrcore::find_member;
using zarrcore::Json;

// The position of the dimension that `spatial:dimensions` names, else of one of this type.
std::optional<std::size_t> find_axis(const Evidence& evidence,
                                     std::string SpatialDimensions::* which, const char* type) {
  const auto find = [&](const auto& test) -> std::optional<std::size_t> {
    const auto found = std::find_if(evidence.axes.begin(), evidence.axes.end(), test);
    if (found == evidence.axes.end()) return std::nullopt;
    return static_cast<std::size_t>(found - evidence.axes.begin());
  };
  for (const EvidenceScope& scope : evidence.scopes) {
    const auto names = spatial_dimensions(*scope.attributes);
    if (!names) continue;
    const std::string& name = (*names).*which;
    if (auto named = find([&](const EvidenceAxis& axis) { return axis.name == name; }))
      return named;
    break;
  }
  return find([&](const EvidenceAxis& axis) { return axis.type == type; });
}

// Where there are no names: the two dimensions of the shape that a convention states.
std::optional<RasterAxes> axes_of_stated_shape(const Evidence& evidence) {
  const auto has_name = [](const EvidenceAxis& axis) { return axis.is_named; };
  if (std::any_of(evidence.axes.begin(), evidence.axes.end(), has_name)) return std::nullopt;
  for (const EvidenceScope& scope : evidence.scopes) {
    const Json* shape = find_member(*scope.attributes, "spatial:shape");
    if (shape == nullptr) continue;
    std::optional<RasterAxes> found;
    for (std::size_t i = evidence.axes.size(); i-- > 1;) {
      if (*shape != Json::array({evidence.axes[i - 1].size, evidence.axes[i].size})) continue;
      if (found) return std::nullopt;
      found = {i, i - 1};
    }
    return found;
  }
  return std::nullopt;
}

// Words for dimensions that are on no map, besides times and heights.
constexpr std::string_view kOffTheMap =
    "azimuth_time slant_range_time slant_range ground_range range azimuth level lev plev "
    "isobaricinhpa pressure sigma cell cells ncells cell_ids healpix wavelength wavelengths "
    "frequency band bands wavenumber radiation_wavelength radiation_frequency";

bool is_on_the_map(const EvidenceAxis& axis) {
  if (axis.type == GDAL_DIM_TYPE_HORIZONTAL_X || axis.type == GDAL_DIM_TYPE_HORIZONTAL_Y) {
    return true;
  }
  const std::string standard_name =
      axis.attributes ? cf::text_in(*axis.attributes, "standard_name") : "";
  if (!axis.type.empty() || cf::is_word_of(kOffTheMap, zarrcore::lower_case(axis.name)) ||
      cf::is_word_of(kOffTheMap, standard_name)) {
    return false;
  }
  return cf::read_unit(axis.unit).kind != cf::UnitKind::other;
}

// Returns true if one of the words in a name means longitudes ("lon") or latitudes ("lat"):
// "XLONG", "nav_lon", "lonc", "Longitude_t", but not "longwave" or "plate".
bool names_coordinate(std::string_view name, const std::string& word) {
  const std::string text = zarrcore::lower_case(name);
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  for (auto start = text.begin(); start != text.end();) {
    start = std::find_if(start, text.end(), is_letter);
    const auto end = std::find_if_not(start, text.end(), is_letter);
    const std::string part(start, end);
    for (const std::string suffix : {"", "s", "g", "gs", "gitude", "gitudes", "itude", "itudes"}) {
      if (part.ends_with(word + suffix)) return true;
    }
    if (part.starts_with(word) && part.size() <= word.size() + 1) return true;
    start = end;
  }
  return false;
}

}  // namespace

bool states_crs(const Json& attributes) {
  const auto has = [&](const char* name) { return attributes.contains(name); };
  return has("grid_mapping_name") || std::ranges::any_of(cf::kWktAttributes, has) ||
         std::ranges::any_of(cf::kCrsAttributes, has);
}

bool is_grid_on_the_sphere(const Json& attributes) {
  const std::string* name = zarrcore::find_string(attributes, "grid_mapping_name");
  return name != nullptr && zarrcore::lower_case(*name) == "healpix";
}

std::vector<GridMapping> grid_mappings(const Json& attributes) {
  std::vector<GridMapping> mappings;
  for (std::string& word : cf::words_in(attributes, "grid_mapping")) {
    if (word.ends_with(':')) {
      word.pop_back();
      mappings.push_back({word});
    } else if (mappings.empty()) {
      return {{word}};
    } else {
      mappings.back().coordinates.push_back(word);
    }
  }
  return mappings;
}

std::string grid_mapping_variable(const Json& attributes, const std::string& x,
                                  const std::string& y) {
  const auto mappings = grid_mappings(attributes);
  const auto found = std::ranges::find_if(mappings, [&](const GridMapping& one) {
    return std::ranges::count(one.coordinates, x) != 0 &&
           std::ranges::count(one.coordinates, y) != 0;
  });
  if (found != mappings.end()) return found->variable;
  return mappings.empty() ? std::string() : mappings.front().variable;
}

std::string grid_mapping_variable(const EvidenceScope& scope, const Evidence& evidence,
                                  const std::optional<RasterAxes>& axes) {
  return axes ? grid_mapping_variable(*scope.attributes, evidence.axes[axes->x].name,
                                      evidence.axes[axes->y].name)
              : grid_mapping_variable(*scope.attributes);
}

std::vector<std::string> coordinate_names(const Evidence& evidence) {
  for (const EvidenceScope& scope : evidence.scopes) {
    const Json* names = zarrcore::find_member(*scope.attributes, "coordinates");
    if (names != nullptr && (names->is_string() || names->is_array())) {
      return cf::words_in(*scope.attributes, "coordinates");
    }
  }
  return {};
}

std::vector<EvidenceVariable> lost_grid_mappings(const Evidence& evidence) {
  // Coordinates and other arrays of one dimension beside it are on no map.
  if (!evidence.unnamed || evidence.axes.size() < 2 ||
      evidence.attributes->contains("grid_mapping")) {
    return {};
  }
  return evidence.unnamed({"spatial_ref", "crs"});
}

std::optional<EvidenceVariable> find_crs_variable(const Evidence& evidence,
                                                  const std::optional<RasterAxes>& axes) {
  if (!evidence.find) return std::nullopt;
  for (const EvidenceScope& scope : evidence.scopes) {
    const std::string name = grid_mapping_variable(scope, evidence, axes);
    if (!name.empty()) return evidence.find(name);
  }
  for (const std::string& name : coordinate_names(evidence)) {
    const auto variable = evidence.find(name);
    if (variable && states_crs(*variable->attributes)) return variable;
  }
  for (EvidenceVariable& variable : lost_grid_mappings(evidence)) {
    if (states_crs(*variable.attributes)) return std::move(variable);
  }
  return std::nullopt;
}

bool has_discrete_features(const Evidence& evidence) {
  constexpr const char* kTypes[] = {"point",   "timeSeries",        "trajectory",
                                    "profile", "timeSeriesProfile", "trajectoryProfile"};
  return std::ranges::any_of(evidence.scopes, [&](const EvidenceScope& scope) {
    const std::string* type = zarrcore::find_string(*scope.attributes, "featureType");
    return type != nullptr &&
           std::ranges::any_of(kTypes, [&](const char* one) { return EQUAL(one, type->c_str()); });
  });
}

std::optional<RasterAxes> known_raster_axes(const Evidence& evidence) {
  const auto x = find_axis(evidence, &SpatialDimensions::x, GDAL_DIM_TYPE_HORIZONTAL_X);
  const auto y = find_axis(evidence, &SpatialDimensions::y, GDAL_DIM_TYPE_HORIZONTAL_Y);
  return x && y && x != y ? std::optional(RasterAxes{*x, *y}) : std::nullopt;
}

RasterAxes find_raster_axes(const Evidence& evidence) {
  if (const auto known = known_raster_axes(evidence)) return *known;
  if (const auto found = axes_of_stated_shape(evidence)) return *found;
  const std::size_t rank = evidence.axes.size();
  return {rank - 1, rank - 2};
}

bool are_on_the_map(const Evidence& evidence, const RasterAxes& axes) {
  const auto known = known_raster_axes(evidence);
  if (known && (axes == *known || axes == RasterAxes{known->y, known->x})) return true;
  if (has_discrete_features(evidence)) return false;
  const EvidenceAxis& x = evidence.axes[axes.x];
  const EvidenceAxis& y = evidence.axes[axes.y];
  // A section, for example with latitudes along X.
  const bool is_turned =
      x.type == GDAL_DIM_TYPE_HORIZONTAL_Y || y.type == GDAL_DIM_TYPE_HORIZONTAL_X;
  return !is_turned && is_on_the_map(x) && is_on_the_map(y);
}

int certainty_of(const EvidenceVariable& variable, const char* word) {
  const bool is_longitude = EQUAL(word, "longitude");
  const std::string standard_name = cf::text_in(*variable.attributes, "standard_name");
  if (!standard_name.empty()) return standard_name == word ? 2 : 0;
  const std::string unit = cf::text_in(*variable.attributes, "units");
  AxisRole role;
  if (cf::read_unit(unit).kind == cf::UnitKind::angle && !EQUAL(unit.c_str(), "degrees") &&
      !EQUAL(unit.c_str(), "degree")) {
    role = find_axis_role({}, {{"units", unit}});
  }
  if (!role.type.empty()) {
    return (role.type == GDAL_DIM_TYPE_HORIZONTAL_X) == is_longitude ? 2 : 0;
  }
  const cf::UnitKind kind = cf::read_unit(unit).kind;
  if (kind == cf::UnitKind::length || kind == cf::UnitKind::other) return 0;
  const std::string_view name = zarrcore::last_segment(variable.path);
  return names_coordinate(name, is_longitude ? "lon" : "lat") ? 1 : 0;
}

std::optional<double> satellite_height(const OGRSpatialReference& crs) {
  const char* method = crs.GetAttrValue("PROJECTION");
  const bool may_be = method == nullptr || STARTS_WITH_CI(method, "Geostationary");
  if (!crs.IsProjected() || !may_be) return std::nullopt;
  const std::string text = proj4_text(crs);
  const auto at = text.find("+h=");
  if (text.find("+proj=geos") == std::string::npos || at == std::string::npos) return std::nullopt;
  return CPLAtof(text.c_str() + at + 3);
}

double metres_of_view(const EvidenceAxis& axis, double height) {
  const cf::Unit unit = cf::read_unit(axis.unit);
  if (unit.kind != cf::UnitKind::angle) return 0;
  const std::string name = axis.attributes ? cf::text_in(*axis.attributes, "long_name") : "";
  const bool is_westward = STARTS_WITH_CI(name.c_str(), "azimuth angle");
  return (is_westward ? -1 : 1) * unit.size * height;
}

}  // namespace gdal_zarr
