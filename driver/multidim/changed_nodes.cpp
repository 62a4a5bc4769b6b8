// Creating, changing, removing and renaming nodes of an opened store.
#include <algorithm>
#include <utility>

#include "driver/multidim/array.h"
#include "driver/multidim/group.h"
#include "driver/multidim/session.h"
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

}  // namespace gdal_zarr
