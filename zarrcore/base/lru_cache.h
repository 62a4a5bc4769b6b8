// A cache of immutable values that evicts the least recently used ones when their bytes exceed a
// bound. A single value always stays, so that a chunk larger than the cache is not decoded again
// for each of its rows.
//
// Values used together share a request number. A request evicts the values of other requests, but
// not its own: when its own exceed the bound, the first ones stay and the later ones are dropped.
// Repeating the request then finds the first ones. (With plain LRU order, each value would be
// evicted just before it is used again.)
//
// Values whose keys have the same group can be erased together. That takes no longer in a large
// cache than in a small one.
#pragma once

#include <algorithm>
#include <array>
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
#include <vector>

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

// The group of a cache key: a hash of what its keys have in common.
inline std::size_t group_of(const std::string& key) {
  return std::hash<std::string>()(key);
}
template <typename Key>
  requires requires(const Key& key) { key.group(); }
std::size_t group_of(const Key& key) {
  return key.group();
}

// Safe to use from several threads at once. `Key` has overloads of heap_bytes() and group_of().
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

  // `bytes` is the size of the value; the cache adds its own overhead. `since` is what erasures()
  // was when the value began to be made: the value is not inserted if its group, or rarely
  // another one, has been erased since.
  void insert(const Key& key, std::shared_ptr<const Value> value, std::uint64_t bytes,
              std::uint64_t request = 0, std::uint64_t since = UINT64_MAX) {
    const std::size_t group = group_of(key);
    Entries removed;
    const std::lock_guard lock(mutex_);
    if (erased_[group % erased_.size()] > since) return;
    if (const auto it = index_.find(key); it != index_.end()) remove(it->second, removed);
    bytes += kEntryBytes + 2 * heap_bytes(key);
    reserve_groups();
    entries_.push_front({key, std::move(value), bytes, request, group});
    try {
      index_.emplace(key, entries_.begin());
    } catch (...) {
      entries_.pop_front();
      throw;
    }
    link(entries_.front());
    bytes_ += bytes;
    shrink(request, removed);
  }

  void erase(const Key& key) {
    Entries removed;
    const std::lock_guard lock(mutex_);
    if (const auto it = index_.find(key); it != index_.end()) remove(it->second, removed);
  }

  // Removes the values of a group, without a look at those of others.
  void erase_group(std::size_t group) {
    Entries removed;
    const std::lock_guard lock(mutex_);
    erased_[group % erased_.size()] = ++erasures_;
    if (groups_.empty()) return;
    for (Entry* entry = first_of(group); entry != nullptr;) {
      Entry* const next = entry->next;
      if (entry->group == group) remove(index_.find(entry->key)->second, removed);
      entry = next;
    }
  }

  // How often groups have been erased.
  std::uint64_t erasures() const { return erasures_; }

  // Removes the values whose keys satisfy `predicate`. It is called for each key.
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
    std::size_t group;
    // In a list of the entries of the same group and few others.
    Entry* previous = nullptr;
    Entry* next = nullptr;
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

  Entry*& first_of(std::size_t group) { return groups_[group % groups_.size()]; }

  // Makes room for one more entry.
  void reserve_groups() {
    constexpr std::size_t kFewest = 16;
    if (entries_.size() < groups_.size()) return;
    groups_ = std::vector<Entry*>(std::max(kFewest, 2 * groups_.size()));
    for (Entry& entry : entries_) link(entry);
  }

  void link(Entry& entry) {
    Entry*& first = first_of(entry.group);
    entry.previous = nullptr;
    entry.next = first;
    if (first != nullptr) first->previous = &entry;
    first = &entry;
  }

  void unlink(const Entry& entry) {
    (entry.previous != nullptr ? entry.previous->next : first_of(entry.group)) = entry.next;
    if (entry.next != nullptr) entry.next->previous = entry.previous;
  }

  // Into `removed`, which is to be destroyed without the lock: returning the memory of large values
  // takes longer than all else here.
  void remove(Iterator entry, Entries& removed) {
    bytes_ -= entry->bytes;
    unlink(*entry);
    index_.erase(entry->key);
    removed.splice(removed.begin(), entries_, entry);
  }

  mutable std::mutex mutex_;
  std::atomic<std::uint64_t> max_bytes_;  // raised with the lock
  std::atomic<std::uint64_t> needed_elsewhere_ = 0;
  std::atomic<std::uint64_t> bytes_ = 0;  // changed with the lock
  Entries entries_;                       // most recently used first
  std::unordered_map<Key, Iterator, Hash> index_;
  std::vector<Entry*> groups_;  // the first entries of the lists, by remainders of groups
  std::atomic<std::uint64_t> erasures_ = 0;     // changed with the lock
  std::array<std::uint64_t, 256> erased_ = {};  // the last of them, by remainders of groups
};

}  // namespace zarrcore
