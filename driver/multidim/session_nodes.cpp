// Creating, changing, removing and renaming nodes of an opened store; and the groups above it. A
// node that is opened by its own path may have its coordinates and its grid mapping in one of the
// folders above it, which are not part of the store then.
#include <cpl_conv.h>
#include <cpl_string.h>

#include <algorithm>
#include <utility>

#include "driver/conventions/gdal_attributes.h"
#include "driver/multidim/array.h"
#include "driver/multidim/group.h"
#include "driver/multidim/session.h"
#include "driver/stores/references/reference_store.h"
#include "driver/stores/vsi/vsi_path.h"
#include "driver/stores/vsi/zarr_folder.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;

// Returns true if stores of the format are one array.
bool is_single_array(const zarrcore::Format& format) {
  const zarrcore::NewArrayRules* rules = format.new_array_rules();
  return rules != nullptr && rules->is_single_array;
}

// Takes the objects at and below a node out of `objects`; returns those that are in use, and their
// paths. They are changed and released without the lock of `objects`: they may call the session.
template <typename T>
std::vector<std::pair<std::string, std::shared_ptr<T>>> take_below(
    std::map<std::string, std::weak_ptr<T>>& objects, const std::string& node_path) {
  std::vector<std::pair<std::string, std::shared_ptr<T>>> live;
  std::erase_if(objects, [&](const auto& item) {
    if (!zarrcore::is_at_or_below(item.first, node_path)) return false;
    if (auto object = item.second.lock()) live.emplace_back(item.first, std::move(object));
    return true;
  });
  return live;
}

// A document of references is a store by itself.
bool is_reference_document(const std::string& path) {
  return has_reference_prefix(path) && parse_reference_path(path).key.empty();
}

}  // namespace

std::shared_ptr<Group> Session::create_group(const std::string& node_path) {
  zarrcore::Hierarchy& hierarchy = writable_hierarchy();
  if (is_single_array(hierarchy.format())) {
    throw Error(path_ + ": the format " + std::string(hierarchy.format().name()) +
                " has no groups");
  }
  if (reused_groups_.erase(node_path) != 0) return group(node_path);
  hierarchy.create_node(node_path, zarrcore::GroupMetadata{});
  {
    const std::lock_guard lock(mutex_);
    created_nodes_.push_back(node_path);
  }
  return group(node_path);
}

std::shared_ptr<Array> Session::create_array(const std::string& node_path,
                                             zarrcore::ArrayMetadata metadata) {
  zarrcore::Hierarchy& hierarchy = writable_hierarchy();
  if (is_single_array(hierarchy.format())) {
    return create_single_array(node_path, metadata);
  }
  hierarchy.create_node(node_path, std::move(metadata));
  try {
    auto created = array(node_path);
    created->set_new();
    const std::lock_guard lock(mutex_);
    created_nodes_.push_back(node_path);
    return created;
  } catch (const Error&) {
    hierarchy.erase_node(node_path);
    throw;
  }
}

void Session::change_attributes(const std::string& group,
                                const std::function<void(zarrcore::Json& attributes)>& edit) {
  writable_hierarchy().update_attributes(group, edit);
  pyramids().forget(group);
}

void Session::erase_nodes(std::span<const std::string> node_paths) {
  // No chunk may be put after its node has been removed.
  for (const auto& array : live_arrays()) {
    if (std::ranges::any_of(node_paths, [&](const std::string& path) {
          return zarrcore::is_at_or_below(array->node_path(), path);
        })) {
      array->stop_writing();
    }
  }
  zarrcore::Hierarchy& hierarchy = writable_hierarchy();
  try {
    hierarchy.erase_nodes(node_paths);
  } catch (const Error&) {
    // Chunks may be left, but no node.
    for (const std::string& path : node_paths) {
      if (!hierarchy.node(path)) forget_objects(path);
    }
    throw;
  }
  for (const std::string& path : node_paths) forget_objects(path);
  const std::lock_guard lock(mutex_);
  for (const std::string& path : node_paths) {
    if (std::erase(created_nodes_, path) == 0) erased_nodes_.push_back(path);
  }
}

void Session::erase_created_nodes() {
  std::vector<std::string> created;
  {
    const std::lock_guard lock(mutex_);
    created.swap(created_nodes_);
  }
  std::vector<std::string> topmost;  // groups are created before their contents
  for (const std::string& path : created) {
    const auto contains = [&](const auto& group) { return zarrcore::is_at_or_below(path, group); };
    if (std::ranges::none_of(topmost, contains) && hierarchy_->node(path)) topmost.push_back(path);
  }
  if (!topmost.empty()) erase_nodes(topmost);
}

void Session::rename_node(const std::string& node_path, const std::string& name) {
  for (const auto& array : live_arrays()) {
    if (zarrcore::is_at_or_below(array->node_path(), node_path)) array->flush();
  }
  const std::string new_path = zarrcore::join_path(zarrcore::parent_path(node_path), name);
  zarrcore::Hierarchy& hierarchy = writable_hierarchy();
  try {
    hierarchy.rename_node(node_path, name);
  } catch (const Error&) {
    // Values may be left under the old name, but no node.
    if (!hierarchy.node(node_path) && hierarchy.node(new_path)) move_objects(node_path, new_path);
    throw;
  }
  move_objects(node_path, new_path);
}

bool Session::exchange_nodes(const std::string& node_path, const std::string& other) {
  flush();
  if (!writable_hierarchy().exchange_nodes(node_path, other)) return false;
  forget_objects(node_path);
  forget_objects(other);
  return true;
}

void Session::move_objects(const std::string& node_path, const std::string& new_path) {
  const auto move = [&](auto& objects) {
    const std::lock_guard lock(mutex_);
    auto live = take_below(objects, node_path);
    for (auto& [path, object] : live) {
      path = zarrcore::moved_path(path, node_path, new_path);
      objects[path] = object;
    }
    return live;
  };
  dimensions_.move(node_path, new_path);
  pyramids().forget_all();
  {
    const std::lock_guard lock(mutex_);
    for (std::string& path : created_nodes_) {
      path = zarrcore::moved_path(path, node_path, new_path);
    }
    auto compounds = std::exchange(compounds_, {});
    for (auto& [path, types] : compounds) {
      compounds_.emplace(zarrcore::moved_path(path, node_path, new_path), std::move(types));
    }
  }
  const auto groups = move(groups_);
  const auto arrays = move(arrays_);
  // Last, because `node_path` may refer to the path of one of these objects.
  for (const auto& [path, group] : groups) group->set_node_path(path);
  for (const auto& [path, array] : arrays) array->set_node_path(path);
}

void Session::forget_objects(const std::string& node_path) {
  std::unique_lock lock(mutex_);
  const auto arrays = take_below(arrays_, node_path);
  const auto groups = take_below(groups_, node_path);
  std::erase_if(compounds_,
                [&](const auto& item) { return zarrcore::is_at_or_below(item.first, node_path); });
  lock.unlock();
  for (const auto& [path, array] : arrays) array->set_deleted();
  for (const auto& [path, group] : groups) group->set_deleted();
  dimensions_.forget_below(node_path);
  pyramids().forget_all();
}

std::shared_ptr<Session> Session::parent() const {
  const std::lock_guard lock(parent_mutex_);
  if (!parent_) parent_ = open_parent();
  return *parent_;
}

std::string Session::parent_folder() const {
  if (is_named_zarr(path_) || is_reference_document(path_)) return {};
  // On the network, only what the name shows to be a part of a store is worth the requests.
  if (!VSIIsLocal(path_.c_str()) && !is_in_named_zarr(path_)) return {};
  return parent_vsi_path(path_).value_or("");
}

std::shared_ptr<Session> Session::open_parent() const {
  const std::string folder = parent_folder();
  if (folder.empty()) return nullptr;
  StoreHints hints;
  if (is_probed(folder)) {
    hints.folder = probe_folder(folder);
    if (!hints.folder) return nullptr;
  } else if (!is_zarr_folder(folder)) {
    return nullptr;
  }
  try {
    SessionOptions options;
    options.missing_chunks_are_errors = missing_chunks_are_errors();
    options.make_classic_dataset = classic_dataset_factory();
    auto session = Session::open(folder, options, hints);
    return session->root_is_array() ? nullptr : session;
  } catch (const zarrcore::Error&) {
    return nullptr;  // the store itself can be read without it
  }
}

std::pair<std::shared_ptr<Session>, std::shared_ptr<const zarrcore::ArrayMetadata>>
Session::find_above(const std::string& group, const std::string& name,
                    std::optional<std::uint64_t> size) const {
  if (!zarrcore::is_valid_segment(name)) return {};
  const std::string path = zarrcore::join_path(group, name);
  for (auto above = parent(); above != nullptr; above = above->parent()) {
    auto metadata = above->coordinate_metadata(path);
    if (metadata && (!size || metadata->shape == zarrcore::Shape{*size})) return {above, metadata};
    // A variable further up would be a different one, with wrong coordinates.
    if (above->is_unreadable(path)) break;
  }
  return {};
}

std::shared_ptr<Array> Session::variable_above(const std::string& group, const std::string& name,
                                               std::uint64_t size) const {
  const auto above = find_above(group, name, size).first;
  return above ? above->array(zarrcore::join_path(group, name)) : nullptr;
}

std::shared_ptr<const zarrcore::ArrayMetadata> Session::metadata_above(const std::string& group,
                                                                       const std::string& name,
                                                                       std::uint64_t size) const {
  return find_above(group, name, size).second;
}

std::shared_ptr<const zarrcore::Json> Session::attributes_above(const std::string& name) const {
  const auto metadata = find_above("", name, {}).second;
  if (!metadata) return nullptr;
  return {metadata, &metadata->attributes};
}

std::optional<PyramidMember> Session::find_pyramid(const std::string& array_path) const {
  if (auto level = pyramids().find(array_path)) {
    return PyramidMember{std::const_pointer_cast<Session>(shared_from_this()), array_path,
                         *std::move(level)};
  }
  std::string path = array_path;
  const Session* below = this;
  for (auto above = parent(); above != nullptr; above = above->parent()) {
    path = zarrcore::join_path(CPLGetFilename(below->path().c_str()), path);
    if (auto level = above->pyramids().find(path)) {
      return PyramidMember{above, path, *std::move(level)};
    }
    below = above.get();
  }
  return std::nullopt;
}

std::optional<PyramidLevel> Session::pyramid_level(const std::string& array_path) const {
  auto member = find_pyramid(array_path);
  return member ? std::optional(std::move(member->level)) : std::nullopt;
}

std::string Session::nczarr_path() const {
  if (parent_folder().empty()) return {};
  if (root_is_array()) {
    const auto array = zarrcore::as_array(hierarchy_->node(""));
    const bool is_nczarr = array && !nczarr_dimensions(*array).empty();
    const auto above = is_nczarr ? parent() : nullptr;
    return above ? above->nczarr_path() : std::string();
  }
  const auto group = group_metadata("");
  const auto above = group && is_nczarr_group(*group) ? parent() : nullptr;
  const auto outer = above ? above->group_metadata("") : nullptr;
  if (!outer || !is_nczarr_group(*outer)) return {};
  return zarrcore::join_path(above->nczarr_path(), CPLGetFilename(path_.c_str()));
}

std::shared_ptr<Session> Session::nczarr_root() const {
  if (nczarr_path().empty()) return nullptr;
  const auto above = parent();
  const auto root = above->nczarr_root();
  return root ? root : above;
}

}  // namespace gdal_zarr
