#include "driver/conventions/healpix.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <vector>

#include "driver/conventions/cf/attributes.h"
#include "driver/conventions/evidence.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/base/text.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;
using zarrcore::find_member;
using zarrcore::Json;

// Interleaves bits: x has the even positions, y the odd ones.
std::uint64_t interleaved(std::uint64_t x, std::uint64_t y) {
  const auto spread = [](std::uint64_t bits) {
    bits = (bits | bits << 16) & 0x0000ffff0000ffff;
    bits = (bits | bits << 8) & 0x00ff00ff00ff00ff;
    bits = (bits | bits << 4) & 0x0f0f0f0f0f0f0f0f;
    bits = (bits | bits << 2) & 0x3333333333333333;
    return (bits | bits << 1) & 0x5555555555555555;
  };
  return spread(x) | spread(y) << 1;
}

std::optional<std::int64_t> integer_of(const Json& attributes, const char* name) {
  const Json* value = find_member(attributes, name);
  if (value == nullptr || !value->is_number_integer()) return std::nullopt;
  return value->get<std::int64_t>();
}

std::string lower_text(const Json& attributes, const char* name) {
  return zarrcore::lower_case(cf::text_in(attributes, name));
}

// The grid that attributes state by any of the names of its level and order.
HealpixGrid grid_of(const Json& attributes) {
  std::optional<std::int64_t> level;
  for (const char* name : {"refinement_level", "level", "healpix_level", "resolution"}) {
    if (!level) level = integer_of(attributes, name);
  }
  for (const char* name : {"healpix_nside", "nside"}) {
    const auto side = level ? std::nullopt : integer_of(attributes, name);
    if (side && *side > 0 && std::has_single_bit(static_cast<std::uint64_t>(*side))) {
      level = std::countr_zero(static_cast<std::uint64_t>(*side));
    }
  }
  std::string order;
  for (const char* name : {"indexing_scheme", "healpix_order", "order"}) {
    if (order.empty()) order = lower_text(attributes, name);
  }
  if (!level || *level < 0 || *level > HealpixGrid::kMaxLevel) {
    throw Error("the HEALPix grid has no refinement level from 0 to 29");
  }
  const bool is_nested = order == "nested" || order == "nest";
  if (!is_nested && order != "ring") {
    throw Error("the HEALPix grid has the indexing scheme \"" + order + "\", not nested or ring");
  }
  return {static_cast<unsigned>(*level), is_nested};
}

// The variable of cell indexes: the one called `name`, else a dimension's variable or one that
// `coordinates` names.
struct Indexes {
  EvidenceVariable variable;
  std::size_t axis;
};

std::optional<Indexes> find_indexes(const Evidence& evidence, const std::string& name) {
  std::vector<std::string> names = coordinate_names(evidence);
  for (const EvidenceAxis& axis : evidence.axes) names.push_back(axis.name);
  for (const char* word : {"cell_ids", "cell", "cells", "healpix_index"}) names.emplace_back(word);
  if (!name.empty()) names = {name};
  for (const std::string& candidate : names) {
    const auto variable = evidence.find ? evidence.find(candidate) : std::nullopt;
    if (!variable || variable->path.empty()) continue;
    const bool is_index = !name.empty() ||
                          lower_text(*variable->attributes, "standard_name") == "healpix_index" ||
                          lower_text(*variable->attributes, "grid_name") == "healpix" ||
                          zarrcore::last_segment(variable->path) == "cell_ids";
    const auto axes =
        is_index ? evidence.axes_of(*variable) : std::vector<std::optional<std::size_t>>();
    if (axes.size() == 1 && axes[0]) return Indexes{*variable, *axes[0]};
  }
  return std::nullopt;
}

}  // namespace

std::uint64_t HealpixGrid::cell_at(double longitude, double latitude) const {
  const auto side = static_cast<std::int64_t>(this->side());
  const auto n = static_cast<double>(side);
  const double z = std::sin(latitude * std::numbers::pi / 180);
  double quarter = std::fmod(longitude / 90, 4);  // quarters of a turn, from 0 to 4
  if (quarter < 0) quarter += 4;
  if (quarter >= 4) quarter = 0;
  const double height = std::abs(z);
  if (height <= 2.0 / 3) {
    // Numbers of the lines that rise and fall to the north-east.
    const auto rising = static_cast<std::int64_t>(n * (0.5 + quarter) - n * z * 0.75);
    const auto falling = static_cast<std::int64_t>(n * (0.5 + quarter) + n * z * 0.75);
    if (!is_nested_) {
      const std::int64_t ring = side + 1 + rising - falling;  // 1 is the one at z = 2/3
      const std::int64_t shift = 1 - (ring & 1);
      const std::int64_t place = ((rising + falling - side + shift + 1) / 2) & (4 * side - 1);
      return static_cast<std::uint64_t>(2 * side * (side - 1) + (ring - 1) * 4 * side + place);
    }
    const std::int64_t a = rising / side;
    const std::int64_t b = falling / side;
    const std::int64_t base = a == b ? (a | 4) : a < b ? a : b + 8;
    const std::int64_t x = falling & (side - 1);
    const std::int64_t y = side - (rising & (side - 1)) - 1;
    return static_cast<std::uint64_t>(base * side * side) +
           interleaved(static_cast<std::uint64_t>(x), static_cast<std::uint64_t>(y));
  }
  const auto base = std::min<std::int64_t>(3, static_cast<std::int64_t>(quarter));
  const double within = quarter - static_cast<double>(base);
  // Exact near the poles, where 1 - |z| is a difference of like numbers.
  const double half = (90 - std::abs(latitude)) * std::numbers::pi / 360;
  const double reach = n * std::sqrt(6.0) * std::sin(half);
  const auto rising = std::min(side - 1, static_cast<std::int64_t>(within * reach));
  const auto falling = std::min(side - 1, static_cast<std::int64_t>((1 - within) * reach));
  if (!is_nested_) {
    const std::int64_t ring = rising + falling + 1;  // from the pole
    const auto place = static_cast<std::int64_t>(quarter * static_cast<double>(ring)) % (4 * ring);
    return z > 0 ? static_cast<std::uint64_t>(2 * ring * (ring - 1) + place)
                 : cell_count() - static_cast<std::uint64_t>(2 * ring * (ring + 1) - place);
  }
  const std::int64_t x = z >= 0 ? side - falling - 1 : rising;
  const std::int64_t y = z >= 0 ? side - rising - 1 : falling;
  return static_cast<std::uint64_t>((z >= 0 ? base : base + 8) * side * side) +
         interleaved(static_cast<std::uint64_t>(x), static_cast<std::uint64_t>(y));
}

std::optional<HealpixArray> find_healpix(const Evidence& evidence) {
  std::optional<HealpixGrid> grid;
  std::string index_name;
  std::string dimension;
  for (const EvidenceScope& scope : evidence.scopes) {
    const Json* dggs = scope.attributes ? find_member(*scope.attributes, "dggs") : nullptr;
    if (grid || dggs == nullptr || lower_text(*dggs, "name") != "healpix") continue;
    grid = grid_of(*dggs);
    index_name = cf::text_in(*dggs, "coordinate");
    dimension = cf::text_in(*dggs, "spatial_dimension");
  }
  const auto indexes = find_indexes(evidence, index_name);
  const auto mapping = grid ? std::nullopt : find_crs_variable(evidence, std::nullopt);
  if (mapping && is_grid_on_the_sphere(*mapping->attributes)) {
    grid = grid_of(*mapping->attributes);
  }
  if (!grid && indexes && lower_text(*indexes->variable.attributes, "grid_name") == "healpix") {
    grid = grid_of(*indexes->variable.attributes);
  }
  if (!grid) return std::nullopt;
  if (indexes) return HealpixArray{*grid, indexes->axis, indexes->variable.path};
  // All cells in order.
  for (std::size_t i = evidence.axes.size(); i-- > 0;) {
    const EvidenceAxis& axis = evidence.axes[i];
    if (axis.size == grid->cell_count() && (dimension.empty() || axis.name == dimension)) {
      return HealpixArray{*grid, i, {}};
    }
  }
  throw Error("array " + evidence.array + " has no dimension with all " +
              std::to_string(grid->cell_count()) +
              " cells of its HEALPix grid, and no variable with the indexes of those that it has");
}

}  // namespace gdal_zarr
