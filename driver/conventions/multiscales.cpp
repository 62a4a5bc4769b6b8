#include "driver/conventions/multiscales.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "driver/conventions/cf/flags.h"
#include "driver/conventions/zarr_conventions.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {
namespace {

using zarrcore::find_member;
using zarrcore::Json;

// A path relative to the group; empty if it leads out of the group.
std::optional<std::string> relative_path(const Json* value) {
  if (value == nullptr || !value->is_string()) return std::nullopt;
  std::string path = value->get<std::string>();
  if (path == "." || path == "./") return std::string();
  if (path.starts_with("./")) path.erase(0, 2);
  try {
    return zarrcore::normalize_path(path);
  } catch (const zarrcore::Error&) {
    return std::nullopt;
  }
}

void add_levels(const Json* list, const char* path_key, Multiscales& multiscales) {
  if (list == nullptr || !list->is_array()) return;
  for (const Json& entry : *list) {
    if (auto path = relative_path(find_member(entry, path_key))) {
      multiscales.levels.push_back({std::move(*path), entry});
    }
  }
}

// Names of levels, which are groups, and the sizes of their cells.
void add_tile_matrices(const Json& pyramid, Multiscales& multiscales) {
  const Json* set = find_member(pyramid, "tile_matrix_set");
  if (set == nullptr) return;
  if (const Json* matrices = find_member(*set, "tileMatrices")) {
    add_levels(matrices, "id", multiscales);
    return;
  }
  // A set that is known by name: the limits state which of its matrices exist.
  for (const char* name : {"tile_matrix_set_limits", "tile_matrix_limits"}) {
    const Json* limits = find_member(pyramid, name);
    if (limits == nullptr || !limits->is_object()) continue;
    for (const auto& [id, entry] : limits->items()) {
      const Json path = id;
      if (auto asset = relative_path(&path)) multiscales.levels.push_back({*asset, entry});
    }
    return;
  }
}

// Objects `{"name": "y", "type": "space"}`; names in versions before 0.4.
void add_axes(const Json* axes, Multiscales& multiscales) {
  if (axes == nullptr || !axes->is_array()) return;
  for (const Json& axis : *axes) {
    const std::string* name =
        axis.is_string() ? zarrcore::as_string(axis) : zarrcore::find_string(axis, "name");
    if (name == nullptr) {
      multiscales.axes.clear();
      return;
    }
    multiscales.axes.push_back(*name);
  }
}

// In OME-Zarr 0.6, coordinate systems have the axes; the first system is the image's.
const Json* find_axes(const Json& pyramid) {
  if (const Json* axes = find_member(pyramid, "axes")) return axes;
  const Json* systems = find_member(pyramid, "coordinateSystems");
  return systems != nullptr && systems->is_array() && !systems->empty()
             ? find_member(systems->front(), "axes")
             : nullptr;
}

// Of the image whose axes are known: `"omero": {"channels": [{"label": "DAPI", "color":
// "0000FF"}]}`.
void add_channels(const Json* omero, const Json* axes, Multiscales& multiscales) {
  const Json* channels = omero != nullptr ? find_member(*omero, "channels") : nullptr;
  if (channels == nullptr || !channels->is_array()) return;
  for (std::size_t i = 0; i < multiscales.axes.size(); ++i) {
    const std::string* type = zarrcore::find_string((*axes)[i], "type");
    if (type != nullptr ? *type == "channel" : multiscales.axes[i] == "c") {
      multiscales.channel_axis = i;
    }
  }
  for (const Json& channel : *channels) {
    const std::string* label = zarrcore::find_string(channel, "label");
    const std::string* color = zarrcore::find_string(channel, "color");
    multiscales.channels.push_back({label != nullptr ? *label : std::string(),
                                    color != nullptr ? cf::parse_color(*color) : std::nullopt});
  }
}

// How many levels a layout derives each level from, one after the other; empty unless each level
// but one names another.
std::vector<std::size_t> derivation_depths(const std::vector<Level>& levels) {
  constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::vector<std::size_t> parents;
  for (const Level& level : levels) {
    const auto parent = relative_path(find_member(level.entry, "derived_from"));
    const auto it = std::find_if(levels.begin(), levels.end(),
                                 [&](const Level& other) { return parent == other.asset; });
    parents.push_back(it == levels.end() ? kNone : static_cast<std::size_t>(it - levels.begin()));
  }
  if (std::count(parents.begin(), parents.end(), kNone) != 1) return {};
  std::vector<std::size_t> depths;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    std::size_t depth = 0;
    for (std::size_t at = parents[i]; at != kNone; at = parents[at]) {
      if (++depth > levels.size()) return {};  // in a circle
    }
    depths.push_back(depth);
  }
  return depths;
}

// The size of a level's cells, in OME-Zarr as a product over its dimensions; empty when unknown.
// Axes that run backwards have a negative scale.
std::optional<double> cell_size(const Json& dataset) {
  for (const char* name : {"cellSize", "scaleDenominator"}) {
    const Json* size = find_member(dataset, name);
    if (size != nullptr && size->is_number()) return size->get<double>();
  }
  const Json* transforms = find_member(dataset, "coordinateTransformations");
  if (transforms == nullptr || !transforms->is_array() || transforms->empty()) return std::nullopt;
  const Json* sequence = find_member(transforms->front(), "transformations");  // OME-Zarr 0.6
  for (const Json& transform : sequence != nullptr ? *sequence : *transforms) {
    const Json* scale = find_member(transform, "scale");
    if (scale == nullptr || !scale->is_array()) continue;
    double product = 1;
    for (const Json& number : *scale) {
      if (!number.is_number()) return std::nullopt;
      product *= std::abs(number.get<double>());
    }
    return product;
  }
  return std::nullopt;
}

void order_levels(Multiscales& multiscales) {
  std::vector<Level>& levels = multiscales.levels;
  if (levels.size() < 2) {
    multiscales.order_is_certain = true;
    return;
  }
  if (const auto depths = derivation_depths(levels); !depths.empty()) {
    std::vector<std::size_t> order(levels.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return depths[i]; });
    std::vector<Level> ordered;
    ordered.reserve(order.size());
    for (const std::size_t i : order) ordered.push_back(std::move(levels[i]));
    levels = std::move(ordered);
    multiscales.order_is_certain = true;
    return;
  }
  const auto first = cell_size(levels.front().entry);
  const auto last = cell_size(levels.back().entry);
  if (!first || !last || *first == *last) return;
  if (*first > *last) std::reverse(levels.begin(), levels.end());
  multiscales.order_is_certain = true;
}

void index_assets(Multiscales& multiscales) {
  multiscales.level_of_asset.clear();
  for (std::size_t i = 0; i < multiscales.levels.size(); ++i) {
    multiscales.level_of_asset.emplace(multiscales.levels[i].asset, i);
  }
}

// The levels by the convention `multiscales`; an empty list if there are none.
const Json& layout_of(const Json& group_attributes) {
  static const auto& none = *new Json(Json::array());
  const Json* multiscales = find_member(group_attributes, "multiscales");
  const Json* layout = multiscales != nullptr ? find_member(*multiscales, "layout") : nullptr;
  return layout != nullptr && layout->is_array() ? *layout : none;
}

std::string written_asset(const std::string& asset) {
  return asset.empty() ? "." : asset;
}

}  // namespace

std::vector<Multiscales> parse_multiscales(const Json& group_attributes) {
  const Json* ome = find_member(group_attributes, "ome");
  const Json& attributes = ome != nullptr ? *ome : group_attributes;
  const Json* member = find_member(attributes, "multiscales");
  if (member == nullptr) return {};
  const Json* omero = find_member(attributes, "omero");
  std::vector<Multiscales> pyramids;
  const auto add = [&](const Json& entry) {
    Multiscales multiscales;
    add_levels(find_member(entry, "layout"), "asset", multiscales);
    add_levels(find_member(entry, "datasets"), "path", multiscales);
    add_tile_matrices(entry, multiscales);
    if (multiscales.levels.empty()) return;
    const Json* axes = find_axes(entry);
    add_axes(axes, multiscales);
    if (pyramids.empty()) add_channels(omero, axes, multiscales);
    order_levels(multiscales);
    index_assets(multiscales);
    pyramids.push_back(std::move(multiscales));
  };
  if (member->is_array()) {
    for (const Json& entry : *member) add(entry);
  } else {
    add(*member);
  }
  return pyramids;
}

Multiscales Multiscales::reversed() const {
  Multiscales result = *this;
  std::reverse(result.levels.begin(), result.levels.end());
  result.order_is_certain = true;
  index_assets(result);
  return result;
}

const std::string* resampling_method(const Json& group_attributes) {
  for (const Json& level : layout_of(group_attributes)) {
    if (const std::string* method = zarrcore::find_string(level, "resampling_method"))
      return method;
  }
  return nullptr;
}

Json with_multiscales(Json attributes, const FinestLevel& finest,
                      const std::vector<CoarserLevel>& levels) {
  const Json old = layout_of(attributes);
  declare_convention(attributes, ZarrConvention::multiscales, !levels.empty());
  if (levels.empty()) {
    attributes.erase("multiscales");
    return attributes;
  }
  const auto entry_of = [&](const std::string& asset) {
    for (const Json& entry : old) {
      if (relative_path(find_member(entry, "asset")) == asset) return entry;
    }
    return Json::object();
  };
  Json layout = Json::array();
  Json first = entry_of(finest.asset);
  first["asset"] = written_asset(finest.asset);
  first["transform"] = {{"scale", std::vector<double>(finest.rank, 1)}};
  layout.push_back(std::move(first));
  const std::string* finer = &finest.asset;
  for (const CoarserLevel& level : levels) {
    Json entry = entry_of(level.asset);
    entry["asset"] = level.asset;
    entry["derived_from"] = written_asset(*finer);
    if (!level.scale.empty()) {
      entry["transform"] = {{"scale", level.scale},
                            {"translation", std::vector<double>(level.scale.size(), 0)}};
      entry["spatial:shape"] = {level.rows, level.columns};
    }
    if (level.transform) {
      const auto& [c, a, b, f, d, e] = *level.transform;
      entry["spatial:transform"] = {a, b, c, d, e, f};
    }
    if (!level.resampling.empty()) entry["resampling_method"] = level.resampling;
    layout.push_back(std::move(entry));
    finer = &level.asset;
  }
  attributes["multiscales"]["layout"] = std::move(layout);
  return attributes;
}

std::optional<std::size_t> Multiscales::find_level(std::string_view path) const {
  for (std::string_view asset = path;; asset = zarrcore::parent_path(asset)) {
    if (const auto it = level_of_asset.find(asset); it != level_of_asset.end()) return it->second;
    if (asset.empty()) return std::nullopt;
  }
}

}  // namespace gdal_zarr
