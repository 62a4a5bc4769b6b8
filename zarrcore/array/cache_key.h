// The key of the caches of a Context: which stored part a cached value was made from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace zarrcore {

// Separates the key of a value from the place of a shard in it, in the keys of parts of a shard
// that was fetched as a whole.
inline constexpr std::string_view kInnerShard = ", inner shard at offset ";

// Some bytes of one value of a store, as one codec chain of one array decodes them. The chain
// belongs to the key: a shard and its only inner chunk can be the same bytes.
struct CacheKey {
  std::uint64_t array_id = 0;
  const void* chain = nullptr;
  std::shared_ptr<const std::string> key;  // never null; equal strings are equal keys
  std::uint64_t offset = 0;
  std::uint64_t length = 0;

  bool operator==(const CacheKey& other) const {
    return array_id == other.array_id && chain == other.chain && offset == other.offset &&
           length == other.length && (key == other.key || *key == *other.key);
  }
  // Bytes outside of the object.
  std::uint64_t byte_count() const { return key->size(); }

  // Equal for all that one array caches of one value.
  static std::size_t group_of(std::uint64_t array_id, std::string_view key) {
    return std::hash<std::string_view>()(key.substr(0, key.find(kInnerShard))) +
           static_cast<std::size_t>(array_id * 0x9e3779b97f4a7c15u);
  }
  std::size_t group() const { return group_of(array_id, *key); }
};

struct CacheKeyHash {
  std::size_t operator()(const CacheKey& key) const {
    std::size_t hash = std::hash<std::string>()(*key.key) ^ std::hash<const void*>()(key.chain);
    for (const std::uint64_t number : {key.array_id, key.offset, key.length}) {
      hash =
          hash * static_cast<std::size_t>(0x9e3779b97f4a7c15u) + std::hash<std::uint64_t>()(number);
    }
    return hash;
  }
};

}  // namespace zarrcore
