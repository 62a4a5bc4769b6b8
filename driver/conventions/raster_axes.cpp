#include "driver/conventions/raster_axes.h"

#include <cpl_conv.h>
#include <cpl_port.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "driver/conventions/axis.h"
#include "driver/conventions/cf/attributes.h"
#include "driver/conventions/cf/units.h"
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

bool has_discrete_features(const Evidence& evidence) {
  constexpr const char* kTypes[] = {"point",   "timeSeries",        "trajectory",
                                    "profile", "timeSeriesProfile", "trajectoryProfile"};
  return std::ranges::any_of(evidence.scopes, [&](const EvidenceScope& scope) {
    const std::string* type = zarrcore::find_string(*scope.attributes, "featureType");
    return type != nullptr &&
           std::ranges::any_of(kTypes, [&](const char* one) { return EQUAL(one, type->c_str()); });
  });
}

RasterAxes find_raster_axes(const Evidence& evidence) {
  const auto x = find_axis(evidence, &SpatialDimensions::x, GDAL_DIM_TYPE_HORIZONTAL_X);
  const auto y = find_axis(evidence, &SpatialDimensions::y, GDAL_DIM_TYPE_HORIZONTAL_Y);
  if (x && y && x != y) return {*x, *y};
  if (const auto found = axes_of_stated_shape(evidence)) return *found;
  const std::size_t rank = evidence.axes.size();
  return {rank - 1, rank - 2};
}

bool knows_raster_axes(const Evidence& evidence) {
  const auto x = find_axis(evidence, &SpatialDimensions::x, GDAL_DIM_TYPE_HORIZONTAL_X);
  const auto y = find_axis(evidence, &SpatialDimensions::y, GDAL_DIM_TYPE_HORIZONTAL_Y);
  return x && y && x != y;
}

bool are_on_the_map(const Evidence& evidence, const RasterAxes& axes) {
  if (knows_raster_axes(evidence)) {
    const RasterAxes known = find_raster_axes(evidence);
    if (axes == known || axes == RasterAxes{known.y, known.x}) return true;
  }
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
