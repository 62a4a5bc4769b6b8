// A cache of immutable values that forgets the least recently used ones when their bytes exceed a
// bound. A single value always stays, so that a chunk larger than the cache is not decoded again
// for each of its rows.
//
// Whoever uses many values together gives that request a number. It drives out the values of
// others, but not its own: when those alone exceed the bound, the first of them stay, and who comes
// again for the same finds those. (The last would have been driven out in turn, each just
// before it is wanted.)
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace zarrcore {

// Some bytes of one value of a store, as one codec chain of one array decodes them. The chain is
// part of it: a shard and the one chunk in it can be the very same bytes.
struct CacheKey {
  std::uint64_t array_id = 0;
  const void* chain = nullptr;
  std::string key;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;

  bool operator==(const CacheKey&) const = default;
};

struct CacheKeyHash {
  std::size_t operator()(const CacheKey& key) const {
    std::size_t hash = std::hash<std::string>()(key.key) ^ std::hash<const void*>()(key.chain);
    for (const std::uint64_t number : {key.array_id, key.offset, key.length}) {
      hash = hash * 0x9e3779b97f4a7c15u + number;
    }
    return hash;
  }
};

// Safe to use from several threads at once.
template <typename Value>
class LruCache {
 public:
  explicit LruCache(std::uint64_t max_bytes) : max_bytes_(max_bytes) {}

  // Null when the value is not here. A request of 0 is none.
  std::shared_ptr<const Value> find(const CacheKey& key, std::uint64_t request = 0) {
    const std::lock_guard lock(mutex_);
    const auto it = index_.find(key);
    if (it == index_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, it->second);
    it->second->request = request;
    return it->second->value;
  }

  // `bytes` is the size of the value; what the cache needs to keep it is added to that.
  void insert(const CacheKey& key, std::shared_ptr<const Value> value, std::uint64_t bytes,
              std::uint64_t request = 0) {
    const std::lock_guard lock(mutex_);
    if (const auto it = index_.find(key); it != index_.end()) remove(it->second);
    bytes += kEntryBytes + 2 * key.key.size();
    entries_.push_front({key, std::move(value), bytes, request});
    try {
      index_.emplace(key, entries_.begin());
    } catch (...) {
      entries_.pop_front();
      throw;
    }
    bytes_ += bytes;
    shrink(request);
  }

  // Forgets all that was found through one array.
  void erase_array(std::uint64_t array_id) {
    const std::lock_guard lock(mutex_);
    for (auto it = entries_.begin(); it != entries_.end();) {
      const auto next = std::next(it);
      if (it->key.array_id == array_id) remove(it);
      it = next;
    }
  }

  // Makes the bound at least `bytes`.
  void reserve(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    max_bytes_ = std::max(max_bytes_, bytes);
  }

  // Lowers the bound by what others need just now, though not below a quarter of it.
  void make_way(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    needed_elsewhere_ = bytes;
    shrink(0);
  }

  std::uint64_t byte_count() const {
    const std::lock_guard lock(mutex_);
    return bytes_;
  }

 private:
  // About what a list node, a hash node and a value's control block take.
  static constexpr std::uint64_t kEntryBytes = 256;

  struct Entry {
    CacheKey key;
    std::shared_ptr<const Value> value;
    std::uint64_t bytes;
    std::uint64_t request;  // that used it last
  };
  using Iterator = typename std::list<Entry>::iterator;

  void shrink(std::uint64_t request) {
    const std::uint64_t bound =
        max_bytes_ - std::min(needed_elsewhere_, max_bytes_ - max_bytes_ / 4);
    while (bytes_ > bound && entries_.size() > 1) {
      const auto oldest = std::prev(entries_.end());
      remove(request != 0 && oldest->request == request ? entries_.begin() : oldest);
    }
  }

  void remove(Iterator entry) {
    bytes_ -= entry->bytes;
    index_.erase(entry->key);
    entries_.erase(entry);
  }

  mutable std::mutex mutex_;
  std::uint64_t max_bytes_;
  std::uint64_t needed_elsewhere_ = 0;
  std::uint64_t bytes_ = 0;
  std::list<Entry> entries_;  // most recently used first
  std::unordered_map<CacheKey, Iterator, CacheKeyHash> index_;
};

}  // namespace zarrcore
