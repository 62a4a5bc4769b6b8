// A cache of immutable values that evicts the least recently used ones when their bytes exceed a
// bound. A single value always stays, so that a chunk larger than the cache is not decoded again
// for each of its rows.
//
// Values used together share a request number. A request evicts the values of other requests, but
// not its own: when its own exceed the bound, the first ones stay and the later ones are dropped.
// Repeating the request then finds the first ones. (With plain LRU order, each value would be
// evicted just before it is used again.)
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

namespace zarrcore {

// Bytes that a cache key holds outside of the key object itself.
inline std::uint64_t heap_bytes(const std::string& key) {
  return key.size();
}
template <typename Key>
  requires requires(const Key& key) { key.byte_count(); }
std::uint64_t heap_bytes(const Key& key) {
  return key.byte_count();
}

// Safe to use from several threads at once. `Key` has an overload of heap_bytes().
template <typename Key, typename Value, typename Hash = std::hash<Key>>
class LruCache {
 public:
  explicit LruCache(std::uint64_t max_bytes) : max_bytes_(max_bytes) {}

  // Without locking: callers that find it empty need not make keys.
  bool is_empty() const { return bytes_ == 0; }

  // Null when the value is not cached. Request 0 means no request.
  std::shared_ptr<const Value> find(const Key& key, std::uint64_t request = 0) {
    const std::lock_guard lock(mutex_);
    const auto it = index_.find(key);
    if (it == index_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, it->second);
    it->second->request = request;
    return it->second->value;
  }

  // `bytes` is the size of the value; the cache adds its own overhead.
  void insert(const Key& key, std::shared_ptr<const Value> value, std::uint64_t bytes,
              std::uint64_t request = 0) {
    Entries removed;
    const std::lock_guard lock(mutex_);
    if (const auto it = index_.find(key); it != index_.end()) remove(it->second, removed);
    bytes += kEntryBytes + 2 * heap_bytes(key);
    entries_.push_front({key, std::move(value), bytes, request});
    try {
      index_.emplace(key, entries_.begin());
    } catch (...) {
      entries_.pop_front();
      throw;
    }
    bytes_ += bytes;
    shrink(request, removed);
  }

  void erase(const Key& key) {
    Entries removed;
    const std::lock_guard lock(mutex_);
    if (const auto it = index_.find(key); it != index_.end()) remove(it->second, removed);
  }

  // Removes the values whose keys satisfy `predicate`.
  template <typename Predicate>
  void erase_if(const Predicate& predicate) {
    Entries removed;
    const std::lock_guard lock(mutex_);
    for (auto it = entries_.begin(); it != entries_.end();) {
      const auto next = std::next(it);
      if (predicate(it->key)) remove(it, removed);
      it = next;
    }
  }

  // Raises the bound to `bytes` if it is lower.
  void reserve(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    max_bytes_ = std::max(max_bytes_.load(), bytes);
  }

  // Lowers the bound by the bytes that are needed elsewhere, but not below a quarter of it. Each
  // call replaces the previous one. It does not lock if nothing has to go: writers call it for each
  // chunk.
  void make_way(std::uint64_t bytes) {
    needed_elsewhere_ = bytes;
    if (bytes_ <= bound()) return;
    Entries removed;
    const std::lock_guard lock(mutex_);
    shrink(0, removed);
  }

  std::uint64_t max_bytes() const {
    const std::lock_guard lock(mutex_);
    return max_bytes_;
  }

  std::uint64_t byte_count() const {
    const std::lock_guard lock(mutex_);
    return bytes_;
  }

 private:
  // Roughly the size of a list node, a hash node and a value's control block.
  static constexpr std::uint64_t kEntryBytes = 256;

  struct Entry {
    Key key;
    std::shared_ptr<const Value> value;
    std::uint64_t bytes;
    std::uint64_t request;  // the last one that used the value
  };
  using Entries = std::list<Entry>;
  using Iterator = typename Entries::iterator;

  std::uint64_t bound() const {
    const std::uint64_t most = max_bytes_;
    return most - std::min<std::uint64_t>(needed_elsewhere_, most - most / 4);
  }

  void shrink(std::uint64_t request, Entries& removed) {
    const std::uint64_t most = bound();
    while (bytes_ > most && entries_.size() > 1) {
      const auto oldest = std::prev(entries_.end());
      remove(request != 0 && oldest->request == request ? entries_.begin() : oldest, removed);
    }
  }

  // Into `removed`, which is to be destroyed without the lock: returning the memory of large values
  // takes longer than all else here.
  void remove(Iterator entry, Entries& removed) {
    bytes_ -= entry->bytes;
    index_.erase(entry->key);
    removed.splice(removed.begin(), entries_, entry);
  }

  mutable std::mutex mutex_;
  std::atomic<std::uint64_t> max_bytes_;  // raised with the lock
  std::atomic<std::uint64_t> needed_elsewhere_ = 0;
  std::atomic<std::uint64_t> bytes_ = 0;  // changed with the lock
  Entries entries_;                       // most recently used first
  std::unordered_map<Key, Iterator, Hash> index_;
};

}  // namespace zarrcore
