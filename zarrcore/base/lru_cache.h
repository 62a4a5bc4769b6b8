// A cache of immutable values that evicts the least recently used ones when their bytes exceed a
// bound. A single value always stays, however large it is.
#pragma once

#include <cstdint>
#include <iterator>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "zarrcore/base/process.h"

namespace zarrcore {

// Safe to use from several threads at once.
template <typename Value>
class LruCache {
 public:
  explicit LruCache(std::uint64_t max_bytes) : max_bytes_(max_bytes) {}

  // Null when the value is not cached.
  std::shared_ptr<const Value> find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto it = index_.find(key);
    if (it == index_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, it->second);
    return it->second->value;
  }

  // `bytes` is the size of the value; the cache adds its own overhead.
  void insert(const std::string& key, std::shared_ptr<const Value> value, std::uint64_t bytes) {
    bytes += kEntryBytes + 2 * key.size();
    Entries added;
    added.push_back({key, std::move(value), bytes});
    // Destroyed without the lock: returning the memory of large values takes long.
    Entries removed;
    const std::lock_guard lock(mutex_);
    const auto [it, is_new] = index_.try_emplace(key, added.begin());
    if (!is_new) {
      remove(it->second, removed);
      it->second = added.begin();
    }
    entries_.splice(entries_.begin(), added);
    bytes_ += bytes;
    while (bytes_ > max_bytes_ && entries_.size() > 1) {
      index_.erase(entries_.back().key);
      remove(std::prev(entries_.end()), removed);
    }
  }

  std::uint64_t byte_count() const {
    const std::lock_guard lock(mutex_);
    return bytes_;
  }

 private:
  // Roughly the size of a list node, a hash node and a value's control block.
  static constexpr std::uint64_t kEntryBytes = 256;

  struct Entry {
    std::string key;
    std::shared_ptr<const Value> value;
    std::uint64_t bytes;
  };
  using Entries = std::list<Entry>;

  void remove(typename Entries::iterator entry, Entries& removed) {
    bytes_ -= entry->bytes;
    removed.splice(removed.begin(), entries_, entry);
  }

  mutable ForkMutex mutex_;
  const std::uint64_t max_bytes_;
  std::uint64_t bytes_ = 0;
  Entries entries_;  // most recently used first
  std::unordered_map<std::string, typename Entries::iterator> index_;
};

}  // namespace zarrcore
