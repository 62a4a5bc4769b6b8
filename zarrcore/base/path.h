// Rules for keys and node paths, which come from files and must not lead out of a store; and the
// names directly below a prefix of a store.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zarrcore {

// Deeper hierarchies are refused: recursion over them is not safe.
inline constexpr std::size_t kMaxNodeDepth = 128;

// Returns true if `name` can be one segment of a key or path: not empty, not "." or "..", without
// '/', '\\' or NUL.
bool is_valid_segment(std::string_view name);

// Throws Error when `key` is not a sequence of valid segments.
void check_key(std::string_view key);

// Returns the node path ("a/b", "" for the root) that a user or a document means: leading, trailing
// and doubled slashes are dropped. Throws Error on "..", "." and NUL, and when it is too deep.
std::string normalize_path(std::string_view path);

// "prefix/name", without the slash when one of them is empty.
std::string join_path(std::string_view prefix, std::string_view name);

// The node path that a name with slashes ("/a/b", "../b", "./b") means in a group; empty if it
// leads out of the store.
std::string resolved_path(std::string_view group, std::string_view name);

// "b/c" of the key "a/b/c" below the path "a"; nullopt when the key is not below it.
std::optional<std::string_view> key_below(std::string_view path, std::string_view key);

// Returns true if the key or path is `path` or below it.
bool is_at_or_below(std::string_view key, std::string_view path);

// Returns the path of a node after the node at `old_path` was moved to `new_path`. A path that is
// not at or below `old_path` is returned unchanged.
std::string moved_path(std::string_view path, std::string_view old_path, std::string_view new_path);

// "a/b" of "a/b/c", "" of "a".
std::string_view parent_path(std::string_view path);

// "c" of "a/b/c".
std::string_view last_segment(std::string_view path);

struct DirectoryListing {
  std::vector<std::string> keys;      // names of the values directly below the prefix
  std::vector<std::string> prefixes;  // names of the deeper levels

  std::size_t size() const { return keys.size() + prefixes.size(); }
  bool is_empty() const { return size() == 0; }
};

// The listing of `prefix` ("" for the root) among entries that are sorted by their keys; entries of
// deeper levels are skipped. `lower_bound(key)` finds the position of the first entry that is not
// before a key, `end` is past the last, and `key_of(position)` is the key of the entry there.
// Positions are iterators or numbers.
template <typename LowerBound, typename Position, typename KeyOf>
DirectoryListing list_sorted(std::string_view prefix, const LowerBound& lower_bound,
                             const Position& end, const KeyOf& key_of) {
  const std::string start = prefix.empty() ? std::string() : std::string(prefix) + '/';
  DirectoryListing listing;
  for (Position at = lower_bound(start); at != end;) {
    const std::string_view key = key_of(at);
    if (!key.starts_with(start)) break;
    const std::string_view rest = key.substr(start.size());
    const auto slash = rest.find('/');
    if (slash == std::string_view::npos) {
      listing.keys.emplace_back(rest);
      ++at;
      continue;
    }
    listing.prefixes.emplace_back(rest.substr(0, slash));
    // '0' follows '/': the first key past this level.
    at = lower_bound(start + listing.prefixes.back() + '0');
  }
  // "a-b/c" is before "a/b", but "a-b" is not before "a".
  std::sort(listing.prefixes.begin(), listing.prefixes.end());
  return listing;
}

template <typename Value>
DirectoryListing list_sorted(std::string_view prefix,
                             const std::map<std::string, Value, std::less<>>& entries) {
  return list_sorted(
      prefix, [&](std::string_view key) { return entries.lower_bound(key); }, entries.end(),
      [](const auto& at) -> std::string_view { return at->first; });
}

}  // namespace zarrcore
