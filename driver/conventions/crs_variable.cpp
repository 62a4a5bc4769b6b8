#include "driver/conventions/crs_variable.h"

#include <algorithm>

#include "driver/conventions/cf/attributes.h"
#include "driver/conventions/cf/grid_mapping.h"
#include "zarrcore/base/text.h"

namespace gdal_zarr {
namespace {

using zarrcore::Json;
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
  const auto found = std::find_if(mappings.begin(), mappings.end(), [&](const GridMapping& one) {
    const auto has = [&](const std::string& name) {
      return std::find(one.coordinates.begin(), one.coordinates.end(), name) !=
             one.coordinates.end();
    };
    return has(x) && has(y);
  });
  if (found != mappings.end()) return found->variable;
  return mappings.empty() ? std::string() : mappings.front().variable;
}

std::string grid_mapping_variable(const EvidenceScope& scope, const Evidence& evidence,
                                  const std::optional<RasterAxes>& axes) {
  if (!axes) return grid_mapping_variable(*scope.attributes);
  return grid_mapping_variable(*scope.attributes, evidence.axes[axes->x].name,
                               evidence.axes[axes->y].name);
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

}  // namespace gdal_zarr
