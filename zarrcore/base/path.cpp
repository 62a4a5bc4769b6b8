#include "zarrcore/base/path.h"

#include <algorithm>

#include "zarrcore/base/error.h"

namespace zarrcore {

bool is_valid_segment(std::string_view name) {
  using namespace std::string_view_literals;
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of("/\\\0"sv) == std::string_view::npos;
}

void check_key(std::string_view key) {
  for (std::size_t start = 0;;) {
    const std::size_t end = std::min(key.find('/', start), key.size());
    if (!is_valid_segment(key.substr(start, end - start))) {
      throw Error("\"" + std::string(key) + "\" is not a valid key of a store");
    }
    if (end == key.size()) return;
    start = end + 1;
  }
}

std::string normalize_path(std::string_view path) {
  std::string normalized;
  std::size_t depth = 0;
  for (std::size_t start = 0; start < path.size();) {
    const std::size_t end = std::min(path.find('/', start), path.size());
    const std::string_view segment = path.substr(start, end - start);
    start = end + 1;
    if (segment.empty()) continue;
    if (!is_valid_segment(segment)) {
      throw Error("\"" + std::string(path.substr(0, 200)) + "\" is not a valid node path");
    }
    if (++depth > kMaxNodeDepth) {
      throw Error("the node path \"" + std::string(path.substr(0, 40)) + "...\" is deeper than " +
                  std::to_string(kMaxNodeDepth) + " levels");
    }
    if (!normalized.empty()) normalized += '/';
    normalized += segment;
  }
  return normalized;
}

std::string join_path(std::string_view prefix, std::string_view name) {
  std::string path(prefix);
  if (!prefix.empty() && !name.empty()) path += '/';
  path += name;
  return path;
}

std::string resolved_path(std::string_view group, std::string_view name) {
  std::string path(name.starts_with('/') ? std::string_view() : group);
  for (std::size_t start = 0; start < name.size();) {
    const std::size_t end = std::min(name.find('/', start), name.size());
    const std::string_view segment = name.substr(start, end - start);
    start = end + 1;
    if (segment.empty() || segment == ".") continue;
    if (segment == "..") {
      if (path.empty()) return {};
      path = parent_path(path);
    } else if (is_valid_segment(segment)) {
      path = join_path(path, segment);
    } else {
      return {};
    }
  }
  return path;
}

std::optional<std::string_view> key_below(std::string_view path, std::string_view key) {
  if (path.empty()) return key;
  if (!key.starts_with(path) || !key.substr(path.size()).starts_with('/')) return std::nullopt;
  return key.substr(path.size() + 1);
}

bool is_at_or_below(std::string_view key, std::string_view path) {
  return key == path || key_below(path, key).has_value();
}

std::string moved_path(std::string_view path, std::string_view old_path,
                       std::string_view new_path) {
  if (!is_at_or_below(path, old_path)) return std::string(path);
  return std::string(new_path) + std::string(path.substr(old_path.size()));
}

std::string_view parent_path(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

std::string_view last_segment(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace zarrcore
