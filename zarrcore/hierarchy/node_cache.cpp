#include "zarrcore/hierarchy/node_cache.h"

#include <utility>

#include "zarrcore/base/path.h"

namespace zarrcore {

NodeCache::Node NodeCache::find(std::string_view path) const {
  const std::lock_guard lock(mutex_);
  const auto it = nodes_.find(path);
  return it != nodes_.end() ? it->second : nullptr;
}

NodeCache::Node NodeCache::add(const std::string& path, NodeMetadata metadata) {
  auto node = std::make_shared<const NodeMetadata>(std::move(metadata));
  const std::lock_guard lock(mutex_);
  return nodes_.emplace(path, std::move(node)).first->second;
}

void NodeCache::replace(const std::string& path, NodeMetadata metadata) {
  auto node = std::make_shared<const NodeMetadata>(std::move(metadata));
  const std::lock_guard lock(mutex_);
  nodes_.insert_or_assign(path, std::move(node));
}

bool NodeCache::has_group(std::string_view path) const {
  const std::lock_guard lock(mutex_);
  return groups_.contains(path);
}

void NodeCache::add_group(const std::string& path) {
  const std::lock_guard lock(mutex_);
  groups_.insert(path);
}

std::optional<NodeCache::Node> NodeCache::root_array() const {
  const std::lock_guard lock(mutex_);
  return root_array_;
}

void NodeCache::set_root_array(std::optional<Node> array) {
  const std::lock_guard lock(mutex_);
  root_array_ = std::move(array);
}

void NodeCache::forget(std::string_view path) {
  const std::lock_guard lock(mutex_);
  std::erase_if(nodes_, [&](const auto& item) { return is_at_or_below(item.first, path); });
  std::erase_if(groups_, [&](const std::string& group) { return is_at_or_below(group, path); });
}

}  // namespace zarrcore
