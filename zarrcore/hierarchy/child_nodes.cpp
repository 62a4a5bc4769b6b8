// The nodes below a group: their names, and reading many of them at once.
#include <algorithm>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/hierarchy/hierarchy.h"

namespace zarrcore {

bool Hierarchy::prefetch(std::span<const std::string> paths, std::optional<NodeKind> wanted) const {
  if (!is_slow()) return false;
  constexpr std::size_t kMaxNodes = 256;  // whose documents are in memory at once
  for (std::size_t start = 0; start < paths.size(); start += kMaxNodes) {
    const auto some = paths.subspan(start, std::min(kMaxNodes, paths.size() - start));
    const auto request_for = [&](std::optional<NodeKind> kind) {
      std::vector<std::string> keys;
      for (const std::string& path : some) {
        if (nodes_.find(path)) continue;
        for (std::string& key : format_->keys_to_read(path, kind)) keys.push_back(std::move(key));
      }
      return request(std::move(keys));
    };
    // Most nodes are arrays. To change them, fewer requests count more than fewer round trips.
    const bool is_array_first = !wanted && options_.is_writable;
    const auto kept_first = request_for(is_array_first ? NodeKind::array : wanted);
    if (is_array_first) prefetch_arrays(some);
    const auto answers = is_array_first ? request_for(wanted) : DocumentRequests::AnswerScope();
    for (const std::string& path : some) prefetch_node(path, wanted);
  }
  return true;
}

void Hierarchy::prefetch_arrays(std::span<const std::string> paths) const {
  for (const std::string& path : paths) {
    if (nodes_.find(path)) continue;
    try {
      auto found = format_->read_node(reader_.source(), path, NodeKind::array);
      if (found) nodes_.add(path, std::move(*found));
    } catch (const Error&) {
      // Opening the node reports the error.
    }
  }
}

// Opening the node reports errors.
void Hierarchy::prefetch_node(const std::string& path, std::optional<NodeKind> wanted) const {
  try {
    node(path, wanted);
  } catch (const Error&) {
  }
}

// Leaves out names that no node may have, which are reported once: other folders may have such
// names.
std::vector<std::string> Hierarchy::listed_names(const DocumentSource& source,
                                                 const std::string& group) const {
  std::vector<std::string> names = format_->child_names(source, group);
  std::erase_if(names, [&](const std::string& name) {
    const std::string_view problem = format_->name_problem(name);
    if (problem.empty()) return false;
    const std::string path = join_path(group, name);
    const auto keys = format_->node_keys(path);
    const bool is_node = std::any_of(keys.begin(), keys.end(),
                                     [&](const std::string& key) { return source.has(key); });
    bool is_new = false;
    {
      const std::lock_guard lock(mutex_);
      is_new = is_node && skipped_.insert(path).second;
    }
    if (is_new) {
      options_.on_problem("/" + path +
                          " is not listed because of its name: " + std::string(problem));
    }
    return true;
  });
  return names;
}

// The listed names, with their nodes read in advance where that saves waiting.
std::vector<std::string> Hierarchy::prefetched_names(const DocumentSource& source,
                                                     const std::string& group) const {
  std::vector<std::string> names = listed_names(source, group);
  std::vector<std::string> paths;
  paths.reserve(names.size());
  for (const std::string& name : names) paths.push_back(join_path(group, name));
  prefetch(paths, std::nullopt);
  return names;
}

std::vector<std::string> Hierarchy::child_names(std::string_view path, NodeKind kind) const {
  const std::string group = normalize_path(path);
  const DocumentSource source = documents();
  std::vector<std::string> names;
  if (group.empty() && kind == NodeKind::array) {
    try {
      if (root_array() != nullptr) names.emplace_back();
    } catch (const Error&) {
      names.emplace_back();  // opening it reports the error
    }
  }
  for (std::string& name : prefetched_names(source, group)) {
    const std::string child = join_path(group, name);
    std::optional<NodeKind> found = is_slow() ? kind_of(nodes_.find(child)) : std::nullopt;
    try {
      if (!found) found = format_->find_kind(source, child);
      if (!found) found = kind_of(node(child));
    } catch (const Error&) {
      found = NodeKind::array;  // opening it reports the error
    }
    if (found == kind) names.push_back(std::move(name));
  }
  return names;
}

std::vector<Child> Hierarchy::children(std::string_view path) const {
  const std::string group = normalize_path(path);
  std::vector<Child> children;
  if (group.empty()) {
    try {
      if (root_array() != nullptr) children.push_back({{}, Child::Kind::array, {}});
    } catch (const Error& error) {
      children.push_back({{}, Child::Kind::broken, error.what()});
    }
  }
  for (std::string& name : prefetched_names(documents(), group)) {
    try {
      if (const auto metadata = node(join_path(group, name))) {
        const bool is_array = std::holds_alternative<ArrayMetadata>(*metadata);
        children.push_back(
            {std::move(name), is_array ? Child::Kind::array : Child::Kind::group, {}});
      }
    } catch (const Error& error) {
      children.push_back({std::move(name), Child::Kind::broken, error.what()});
    }
  }
  return children;
}

}  // namespace zarrcore
