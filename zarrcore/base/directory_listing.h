// The names directly below a prefix of a store.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace zarrcore {

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
