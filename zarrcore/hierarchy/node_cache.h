// The nodes of a hierarchy that have been read or made.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "zarrcore/metadata/format.h"

namespace zarrcore {

// Safe to use from several threads at once. Paths are normalized.
class NodeCache {
 public:
  using Node = std::shared_ptr<const NodeMetadata>;

  // Null if it is not known.
  Node find(std::string_view path) const;
  // Returns the node at `path`: this one, unless there is one already.
  Node add(const std::string& path, NodeMetadata metadata);
  void replace(const std::string& path, NodeMetadata metadata);

  // Groups that exist, whose attributes may not have been read.
  bool has_group(std::string_view path) const;
  void add_group(const std::string& path);

  // The array at a root that is also a group, or null; nullopt until it is known.
  std::optional<Node> root_array() const;
  void set_root_array(std::optional<Node> array);

  // All at or below `path` has been removed.
  void forget(std::string_view path);

 private:
  mutable std::mutex mutex_;  // guards the following
  std::map<std::string, Node, std::less<>> nodes_;
  std::set<std::string, std::less<>> groups_;
  std::optional<Node> root_array_;
};

}  // namespace zarrcore
