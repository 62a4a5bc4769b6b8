#include "driver/multidim/stored_nodes.h"

#include <cpl_error.h>

#include <algorithm>
#include <string_view>
#include <variant>

#include "driver/gdal/messages.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {

std::vector<std::string> paths_upward(std::string_view node_path) {
  std::vector<std::string> paths;
  for (;; node_path = zarrcore::parent_path(node_path)) {
    paths.emplace_back(node_path);
    if (node_path.empty()) return paths;
  }
}

std::string StoredNodes::full_name(const std::string& node_path) const {
  return '/' + (root_is_array() && node_path.empty() ? root_array_name_ : node_path);
}

std::string StoredNodes::node_path(const std::string& full_name) const {
  std::string path = zarrcore::normalize_path(full_name);
  return root_is_array() && path == root_array_name_ ? std::string() : path;
}

std::shared_ptr<const zarrcore::Json> StoredNodes::attributes(
    const std::string& node_path, std::optional<zarrcore::NodeKind> wanted) const {
  const auto metadata = hierarchy_->node(node_path, wanted);
  if (!metadata) return std::make_shared<const zarrcore::Json>(zarrcore::Json::object());
  return {metadata, std::visit([](const auto& node) { return &node.attributes; }, *metadata)};
}

std::shared_ptr<const zarrcore::GroupMetadata> StoredNodes::group_metadata(
    const std::string& node_path) const {
  const auto node = hierarchy_->node(node_path);
  return {node, std::get_if<zarrcore::GroupMetadata>(node.get())};
}

std::shared_ptr<const zarrcore::ArrayMetadata> StoredNodes::array_metadata(
    const std::string& node_path) const {
  try {
    return zarrcore::as_array(hierarchy_->node(node_path, zarrcore::NodeKind::array));
  } catch (const zarrcore::Error&) {
    return nullptr;  // opening that array reports the error
  }
}

std::shared_ptr<const zarrcore::ArrayMetadata> StoredNodes::coordinate_metadata(
    const std::string& node_path) const {
  try {
    return zarrcore::as_array(hierarchy_->node(node_path, zarrcore::NodeKind::array));
  } catch (const zarrcore::Error& error) {
    warn_unreadable(node_path, error.what());
    return nullptr;
  }
}

bool StoredNodes::is_unfinished_copy(const std::string& node_path) const {
  for (const std::string_view suffix : {kUnfinishedCopy, kReplacedArray}) {
    if (!node_path.ends_with(suffix)) continue;
    return array_metadata(node_path.substr(0, node_path.size() - suffix.size())) != nullptr;
  }
  return false;
}

bool StoredNodes::is_dimension_variable(const std::string& node_path) const {
  const auto array = array_metadata(node_path);
  return array && array->dimension_names.size() == 1 &&
         array->dimension_names.front() == zarrcore::last_segment(node_path);
}

void StoredNodes::warn_unreadable(const std::string& node_path, const char* problem) const {
  {
    const std::lock_guard lock(unreadable_mutex_);
    if (!unreadable_.insert(node_path).second) return;
  }
  report(
      CE_Warning, CPLE_AppDefined,
      "Zarr: %s: array %s cannot be read, so the arrays that it holds coordinates for have none: "
      "%s",
      path_.c_str(), full_name(node_path).c_str(), problem);
}

bool StoredNodes::is_unreadable(const std::string& node_path) const {
  const std::lock_guard lock(unreadable_mutex_);
  return unreadable_.contains(node_path);
}

Pyramids::List Pyramids::of_group(const std::string& group) const {
  {
    const std::lock_guard lock(mutex_);
    if (const auto it = by_group_.find(group); it != by_group_.end()) return it->second;
  }
  List found;
  for (auto& pyramid : parse_multiscales(*nodes_.attributes(group, zarrcore::NodeKind::group))) {
    found.push_back(std::make_shared<const Multiscales>(std::move(pyramid)));
  }
  const std::lock_guard lock(mutex_);
  return by_group_.emplace(group, std::move(found)).first->second;
}

std::optional<PyramidLevel> Pyramids::find_in(const std::string& group,
                                              const std::shared_ptr<const Multiscales>& pyramid,
                                              const std::string& array_path) const {
  const std::string_view path =
      std::string_view(array_path).substr(group.empty() ? 0 : group.size() + 1);
  const auto level = pyramid->find_level(path);
  if (!level) return std::nullopt;
  const std::string& asset = pyramid->levels[*level].asset;
  const std::size_t skipped = asset.empty() ? 0 : asset.size() + 1;
  return PyramidLevel{group, pyramid, *level,
                      std::string(path.substr(std::min(skipped, path.size())))};
}

std::optional<PyramidLevel> Pyramids::find(const std::string& array_path) const {
  if (nodes_.root_is_array()) return std::nullopt;
  for (const std::string& group : paths_upward(zarrcore::parent_path(array_path))) {
    for (const auto& pyramid : of_group(group)) {
      auto found = find_in(group, pyramid, array_path);
      if (found && !pyramid->order_is_certain) {
        if (const auto ordered = ordered_by_size(*found, array_path)) {
          found = find_in(group, ordered, array_path);
        }
      }
      if (found) return found;
    }
  }
  return std::nullopt;
}

// Two of the levels are enough to know the order, and need few requests.
std::shared_ptr<const Multiscales> Pyramids::ordered_by_size(const PyramidLevel& level,
                                                             const std::string& array_path) const {
  const Multiscales& listed = *level.multiscales;
  const auto shape_of = [&](std::size_t at) -> zarrcore::Shape {
    const std::string path = path_at_level(level, array_path, at);
    const auto metadata = path.empty() ? nullptr : nodes_.array_metadata(path);
    return metadata ? metadata->shape : zarrcore::Shape{};
  };
  const zarrcore::Shape first = shape_of(0);
  const zarrcore::Shape last = shape_of(listed.levels.size() - 1);
  if (first.empty() || first.size() != last.size() || first == last) return nullptr;
  bool first_is_coarser = true;
  for (std::size_t i = 0; i < first.size(); ++i) first_is_coarser &= first[i] <= last[i];
  Multiscales ordered = first_is_coarser ? listed.reversed() : listed;
  ordered.order_is_certain = true;
  auto result = std::make_shared<const Multiscales>(std::move(ordered));
  const std::lock_guard lock(mutex_);
  for (auto& pyramid : by_group_[level.group]) {
    if (pyramid == level.multiscales) pyramid = result;
  }
  return result;
}

std::vector<std::string> Pyramids::places_at_level(const PyramidLevel& pyramid,
                                                   const std::string& array_path,
                                                   std::size_t level) const {
  const std::string asset =
      zarrcore::join_path(pyramid.group, pyramid.multiscales->levels[level].asset);
  const std::string_view name = zarrcore::last_segment(array_path);
  std::vector<std::string> places;
  // An asset that is an array is a level of arrays that are assets themselves, and of those that
  // have its name in groups.
  if (pyramid.suffix.empty() || zarrcore::last_segment(asset) == name) places.push_back(asset);
  places.push_back(zarrcore::join_path(asset, pyramid.suffix.empty() ? name : pyramid.suffix));
  return places;
}

std::string Pyramids::path_at_level(const PyramidLevel& pyramid, const std::string& array_path,
                                    std::size_t level) const {
  for (std::string& place : places_at_level(pyramid, array_path, level)) {
    if (nodes_.array_metadata(place)) return std::move(place);
  }
  return {};
}

// Reads the metadata of coarser levels at once, where the store is slow.
void Pyramids::prefetch_levels(const PyramidLevel& pyramid, const std::string& array_path) const {
  if (!nodes_.is_slow()) return;
  std::vector<std::vector<std::string>> levels;
  for (std::size_t i = pyramid.level + 1; i < pyramid.multiscales->levels.size(); ++i) {
    levels.push_back(places_at_level(pyramid, array_path, i));
  }
  for (std::size_t attempt = 0; !levels.empty(); ++attempt) {
    std::vector<std::string> paths;
    paths.reserve(levels.size());
    for (const auto& places : levels) paths.push_back(places[attempt]);
    if (!nodes_.hierarchy().prefetch(paths, zarrcore::NodeKind::array)) return;
    std::erase_if(levels, [&](const auto& places) {
      return attempt + 1 == places.size() || nodes_.array_metadata(places[attempt]) != nullptr;
    });
  }
}

std::vector<std::string> Pyramids::overview_paths(const std::string& array_path) const {
  std::vector<std::string> paths;
  const auto pyramid = find(array_path);
  if (!pyramid) return paths;
  const auto fine = nodes_.array_metadata(array_path);
  if (!fine) return paths;
  prefetch_levels(*pyramid, array_path);
  std::vector<std::pair<double, std::string>> levels;  // by their number of elements
  for (std::size_t i = pyramid->level + 1; i < pyramid->multiscales->levels.size(); ++i) {
    std::string path = path_at_level(*pyramid, array_path, i);
    if (path.empty() || path == array_path) continue;
    const auto coarse = nodes_.array_metadata(path);
    if (coarse->shape.size() != fine->shape.size() || coarse->data_type != fine->data_type) {
      warn_of_misfit(path, array_path);
      continue;
    }
    double elements = 1;
    for (const std::uint64_t length : coarse->shape) elements *= static_cast<double>(length);
    levels.emplace_back(elements, std::move(path));
  }
  std::ranges::stable_sort(levels, [](const auto& a, const auto& b) { return a.first > b.first; });
  for (auto& [elements, path] : levels) paths.push_back(std::move(path));
  return paths;
}

void Pyramids::warn_of_misfit(const std::string& level_path, const std::string& array_path) const {
  {
    const std::lock_guard lock(mutex_);
    if (!misfits_.insert(level_path).second) return;
  }
  report(CE_Warning, CPLE_AppDefined,
         "Zarr: %s: array %s is not an overview of %s: its data type or the number of its "
         "dimensions differs",
         nodes_.path().c_str(), nodes_.full_name(level_path).c_str(),
         nodes_.full_name(array_path).c_str());
}

std::string Pyramids::finest_level_path(const std::string& array_path) const {
  const auto pyramid = find(array_path);
  // An array may lack the finest levels: its finest level is the first that exists.
  for (std::size_t level = 0; pyramid && level < pyramid->level; ++level) {
    std::string finest = path_at_level(*pyramid, array_path, level);
    // Levels that contain each other can lead back to the array itself.
    if (!finest.empty()) return finest == array_path ? std::string() : finest;
  }
  return {};
}

void Pyramids::forget(const std::string& group) const {
  const std::lock_guard lock(mutex_);
  by_group_.erase(group);
}

void Pyramids::forget_all() const {
  const std::lock_guard lock(mutex_);
  by_group_.clear();
  ++generation_;
}

}  // namespace gdal_zarr
