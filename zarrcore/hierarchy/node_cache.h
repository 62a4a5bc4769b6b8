// What a hierarchy caches: the nodes that have been read or created, and the documents in its
// consolidated metadata.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "zarrcore/base/path.h"
#include "zarrcore/base/process.h"
#include "zarrcore/metadata/format.h"

namespace zarrcore {

// Nullopt if there is no node.
inline std::optional<NodeKind> kind_of(const std::shared_ptr<const NodeMetadata>& node) {
  if (node == nullptr) return std::nullopt;
  return std::holds_alternative<ArrayMetadata>(*node) ? NodeKind::array : NodeKind::group;
}

// Safe to use from several threads at once. Paths are normalized.
class NodeCache {
 public:
  using Node = std::shared_ptr<const NodeMetadata>;

  // Null if it is not known.
  Node find(std::string_view path) const {
    const std::lock_guard lock(mutex_);
    const auto it = nodes_.find(path);
    return it != nodes_.end() ? it->second : nullptr;
  }
  // Returns the node at `path`: this one, unless there is one already.
  Node add(const std::string& path, NodeMetadata metadata) {
    Node node = std::make_shared<NodeMetadata>(std::move(metadata));
    const std::lock_guard lock(mutex_);
    return nodes_.emplace(path, std::move(node)).first->second;
  }
  void replace(const std::string& path, NodeMetadata metadata) {
    Node node = std::make_shared<NodeMetadata>(std::move(metadata));
    const std::lock_guard lock(mutex_);
    nodes_.insert_or_assign(path, std::move(node));
  }

  // The same, unless the node is no longer `old`, or has changes that are not in the store.
  void replace(const std::string& path, const Node& old, NodeMetadata metadata) {
    Node node = std::make_shared<NodeMetadata>(std::move(metadata));
    const std::lock_guard lock(mutex_);
    const auto it = nodes_.find(path);
    if (it != nodes_.end() && it->second == old && !changed_.contains(path)) it->second = node;
  }

  // Changes a node of this kind that is referenced elsewhere only `held` times; else returns false.
  bool change_in_place(const std::string& path, std::optional<NodeKind> kind, long held,
                       const std::function<void(NodeMetadata&)>& edit) {
    const std::lock_guard lock(mutex_);
    const auto it = nodes_.find(path);
    if (it == nodes_.end()) return false;
    // Counting this reference comes after all that others did before they released theirs.
    const Node node = it->second;
    if (node.use_count() != held + 2) return false;
    const bool is_array = std::holds_alternative<ArrayMetadata>(*node);
    if (kind && is_array != (*kind == NodeKind::array)) return false;
    edit(const_cast<NodeMetadata&>(*node));  // NOLINT: none is made const
    return true;
  }

  // Nodes with changes that are not in the store.
  bool has_changes(std::string_view path) const {
    const std::lock_guard lock(mutex_);
    return changed_.contains(path);
  }
  void set_has_changes(const std::string& path, bool has_changes) {
    const std::lock_guard lock(mutex_);
    has_changes ? static_cast<void>(changed_.insert(path))
                : static_cast<void>(changed_.erase(path));
  }

  // Groups that exist, whose attributes may not have been read.
  bool has_group(std::string_view path) const {
    const std::lock_guard lock(mutex_);
    return groups_.contains(path);
  }
  void add_group(const std::string& path) {
    const std::lock_guard lock(mutex_);
    groups_.insert(path);
  }

  // The array at a root that is also a group, or null; nullopt until it is known.
  std::optional<Node> root_array() const {
    const std::lock_guard lock(mutex_);
    return root_array_;
  }
  void set_root_array(std::optional<Node> array) {
    const std::lock_guard lock(mutex_);
    root_array_ = std::move(array);
  }

  // All at or below `path` has been removed.
  void forget(std::string_view path) {
    const std::lock_guard lock(mutex_);
    std::erase_if(nodes_, [&](const auto& item) { return is_at_or_below(item.first, path); });
    std::erase_if(groups_, [&](const std::string& group) { return is_at_or_below(group, path); });
    std::erase_if(changed_, [&](const std::string& node) { return is_at_or_below(node, path); });
  }

 private:
  mutable ForkMutex mutex_;  // guards the following
  std::map<std::string, Node, std::less<>> nodes_;
  std::set<std::string, std::less<>> groups_;
  std::set<std::string, std::less<>> changed_;
  std::optional<Node> root_array_;
};

// The documents in the consolidated metadata of a hierarchy. Safe to use from several threads at
// once.
class CopiedDocuments {
 public:
  // Reads the consolidated metadata in `own`, the documents of the store. Throws Error if it is
  // broken, and then counts as not existing. Returns false if there is no consolidated metadata.
  bool read(const Format& format, const DocumentSource& own);
  // Reads it again. Throws Error if it is broken. Returns false if it no longer exists but
  // `may_have_ended` is false: the documents read earlier then stay.
  bool read_again(const Format& format, const DocumentSource& own, bool may_have_ended);
  // The next call of find() reads it, and reports to `on_problem` if it is broken.
  void read_later() { is_unread_ = true; }
  bool find(const Format& format, const DocumentSource& own,
            const std::function<void(const std::string& problem)>& on_problem);

  bool exist() const;
  bool may_exist() const;
  // Messages about documents that were left out.
  std::vector<std::string> problems() const;
  // A view of them, which must not outlive this object.
  DocumentSource source() const;

  // All at or below `path` has been removed.
  void forget(std::string_view path);
  // It has been removed, whether it has been read or not.
  void drop();

 private:
  std::mutex reading_mutex_;
  mutable std::mutex mutex_;  // guards the following
  std::optional<ConsolidatedDocuments> documents_;
  bool is_unread_ = false;
};

}  // namespace zarrcore
