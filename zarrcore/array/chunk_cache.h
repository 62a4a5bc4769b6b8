// The cache of decoded chunks, inner chunks and indexes of shards, for all arrays of a Context. It
// is bounded in bytes; the least recently used entries are evicted.
//
// The life of an entry:
//
//   absent   Not cached, and not being read.
//   queued   A walk is expected to need it (prefetcher.h). A task reads it, or the request that
//            needs it first, if that is earlier.
//   pending  One thread fetches and decodes it: it holds the Filling of the entry. All others that
//            need the entry wait for it, so that each chunk is decoded once.
//   cached   Until it is evicted, found to be of another version than its value has now
//            (CachedItem::is_current), or erased because its value has been put.
//
// A pending entry that is erased is completed for those that wait for it, and is then gone. If
// filling it fails, it is absent again; threads that wait then try it themselves, and get the
// error.
//
// A thread that holds the Filling of a chunk does not wait for other chunks, but may wait for the
// index of a shard. One that holds the Filling of an index does not wait at all. So waiting always
// ends.
#pragma once

#include <array>
#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "zarrcore/array/access_pattern.h"
#include "zarrcore/array/selection.h"
#include "zarrcore/base/api.h"
#include "zarrcore/base/cancellation.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/process.h"
#include "zarrcore/codec/codec_chain.h"
#include "zarrcore/store/store.h"

namespace zarrcore {

// Something that is cached of a value of a store: a chunk, the index of a shard, or that the value
// is missing; with the single rule whether it may still be used (is_current). An object of this
// class itself states that a chunk, or the value it is in, is missing. Safe to use from several
// threads at once.
class CachedItem {
 public:
  enum class Kind : std::uint8_t { missing, index, chunk };

  // `version`: the version of the value that the item was decoded from. `is_pinned`: it was
  // read for later reads (Array::prefetch), and may still be used after the value has been removed.
  explicit CachedItem(const ValueVersion& version, bool is_pinned = false,
                      Kind kind = Kind::missing)
      : version_(version), is_pinned_(is_pinned), kind_(kind) {}
  virtual ~CachedItem() = default;
  CachedItem(const CachedItem&) = delete;
  CachedItem& operator=(const CachedItem&) = delete;

  Kind kind() const { return kind_; }
  bool is_missing() const { return kind_ == Kind::missing; }
  // The memory in use at present.
  virtual std::uint64_t byte_count() const { return 0; }

  const ValueVersion& version() const { return version_; }
  bool is_pinned() const { return is_pinned_; }

  // Returns true if it may be used when the value has the version `current`.
  bool is_valid_for(const ValueVersion& current) const {
    if (!is_pinned_) return version_.is_valid_for(current);
    return current.is_absent() || !version_.differs_from(current);
  }
  // Returns true if it may be used in a request that began at this moment of the store's watch;
  // zero if the store has none. The value is at `key` of the store.
  bool is_current(Store& store, const std::string& key, std::uint64_t moment) const;

 private:
  ValueVersion version_;
  bool is_pinned_;
  Kind kind_;
  // The stamp of the value (ValueWatch::stamp) when it was last seen to have this version.
  mutable std::atomic<std::uint64_t> stamp_ = 0;
};

// The decoded elements of a chunk, in stored order: all, or the first ones. If its codecs compress
// blocks separately (Blosc), only the blocks that are needed are decoded, each of them once. Safe
// to use from several threads, which decode different blocks at the same time.
class CachedChunk final : public CachedItem {
 public:
  // See CachedItem.
  CachedChunk(DecodedChunk chunk, const ValueVersion& version, bool is_pinned = false)
      : CachedItem(version, is_pinned, Kind::chunk), chunk_(std::move(chunk)) {}
  // A chunk that is decoded in blocks of `block_size` bytes (CodecChain::block_size).
  CachedChunk(SharedChain chain, Buffer encoded, std::uint64_t block_size,
              const ValueVersion& version);

  // Returns true if elements() can have the elements that `axes` select in a chunk of `spec`.
  bool reaches(std::span<const AxisSlice> axes, const ChunkSpec& spec) const {
    return end_of(axes, spec.shape, spec.data_type.item_size) <= chunk_.elements.size();
  }
  // Returns true if these elements are decoded. They must be within its reach.
  bool is_decoded(std::span<const AxisSlice> axes) const;
  // Calls `body(i)` for every i below `count`, on idle threads too.
  using Together =
      std::function<void(std::size_t count, const std::function<void(std::size_t i)>& body)>;
  // The chunk, in which at least the elements that `axes` select are decoded. The request, which
  // may be null, decides whether more are. `together` may be empty. Throws Error.
  const std::byte* elements(std::span<const AxisSlice> axes, AccessPattern::Request* request,
                            const Together& together) const;
  // All elements of a chunk that is not decoded in blocks.
  const Buffer& all() const { return chunk_.elements; }

  std::uint64_t byte_count() const override { return chunk_.byte_count() + encoded_bytes_; }

 private:
  // Other values: a thread of the process with this id decodes it. Threads wait on it: a futex has
  // 32 bits. NOLINTNEXTLINE(performance-enum-size)
  enum class Block : std::uint32_t { encoded = 0, decoded = UINT32_MAX };

  std::vector<bool> touched_blocks(std::span<const AxisSlice> axes) const;
  void decode_blocks(std::span<const AxisSlice> axes, AccessPattern::Request* request,
                     const Together& together) const;
  bool decode_whole() const;
  void decode_block(std::size_t block) const;
  bool try_to_claim(std::size_t block, Block& state) const;
  bool claim(std::size_t block) const;
  void set(std::size_t block, Block state) const;
  void count_decoded(std::size_t blocks) const;

  mutable DecodedChunk chunk_;
  // For a chunk that is decoded in blocks:
  SharedChain chain_;
  std::size_t block_size_ = 0;
  std::size_t count_ = 0;
  // Read by threads that have a block in work, freed when all are decoded.
  mutable Buffer encoded_;
  mutable std::atomic<std::uint64_t> encoded_bytes_ = 0;
  mutable std::unique_ptr<std::atomic<Block>[]> blocks_;
  mutable std::atomic<std::size_t> missing_ = 0;
  mutable std::atomic<bool> is_new_ = true;
  mutable std::atomic<bool> has_counted_rest_ = false;
};

class CachedArray;

// A chunk, inner chunk or shard in a value of the store: its number among those that its chain
// decodes. The same in each version of the value.
struct PlaceInValue {
  SharedChain chain;
  std::uint64_t position = 0;

  auto operator<=>(const PlaceInValue&) const = default;
};

// Safe to use from several threads at once. In a forked child, entries that threads of the parent
// were filling are absent.
class ChunkCache {
 public:
  using Item = std::shared_ptr<const CachedItem>;
  using Key = std::shared_ptr<const std::string>;  // of a value; equal strings are equal keys
  class Entry;

  // The bounds of chunks and of indexes.
  ZARRCORE_API ChunkCache(std::uint64_t chunk_bytes, std::uint64_t index_bytes);
  ChunkCache(const ChunkCache&) = delete;
  ChunkCache& operator=(const ChunkCache&) = delete;

  // A request that uses the cache. The entries that it uses may be evicted by other requests, but
  // not by the request itself: when they exceed the bound, the first entries stay and the later
  // ones are dropped. Repeating the request then finds the first ones. (With plain LRU order, each
  // would be evicted just before it is used again.)
  struct Request {
    std::uint64_t number = 0;
    std::uint64_t erasures = 0;  // before it began
  };
  Request begin_request();

  // An entry that the owner of this object fills. If it does not, the entry is absent again.
  class Filling {
   public:
    Filling() = default;
    Filling(ChunkCache& cache, std::shared_ptr<Entry> entry)
        : cache_(&cache), entry_(std::move(entry)) {}
    ~Filling() {
      if (entry_) cache_->complete(*entry_, nullptr, false, {});
    }
    Filling(Filling&& other) noexcept = default;
    Filling& operator=(Filling&& other) noexcept {
      std::swap(cache_, other.cache_);
      std::swap(entry_, other.entry_);
      return *this;
    }

    explicit operator bool() const { return entry_ != nullptr; }
    // The entry has this item; without `stays`, only for those that wait for it.
    void finish(Item item, bool stays, const Request& request) {
      cache_->complete(*entry_, std::move(item), stays, request);
      entry_.reset();
    }

   private:
    ChunkCache* cache_ = nullptr;
    std::shared_ptr<Entry> entry_;
  };

  struct Found {
    Item item;                       // null if no item is cached
    std::shared_ptr<Entry> pending;  // the entry, if another thread is filling it
    Filling filling;                 // with Intent::start, if there is neither
    bool is_first_use = false;       // this is the first use of a prefetched item
  };
  enum class Intent : std::uint8_t {
    look,
    take,   // the caller reads a queued entry itself, and does not cache it
    start,  // the caller fills the entry
  };
  // Looks for an entry, and uses its item, if it has one.
  Found find(CachedArray& array, const Key& key, const PlaceInValue& place, const Request& request,
             Intent intent = Intent::look);
  // Returns true if the item is cached. Does not use it.
  bool has(const CachedArray& array, const Key& key, const PlaceInValue& place) const;

  // Begins to fill an entry, also a cached one. Empty if another thread is filling it. If the value
  // has been erased since the request began, the item is not cached: the request may have read the
  // old value.
  Filling start(CachedArray& array, const Key& key, const PlaceInValue& place,
                const Request& request);
  // Waits until the entry is not pending; null if it has not been filled. Calls `help` until that
  // returns false, then waits. Throws Error when the thread's work is cancelled (Cancellation).
  template <typename Help>
  Item wait(Entry& entry, const Help& help);

  // Queues an entry that will have about `bytes`. Null if the entry is not absent, or if the
  // prefetched entries would occupy more than a quarter of the cache.
  std::shared_ptr<Entry> queue(CachedArray& array, const Key& key, const PlaceInValue& place,
                               std::uint64_t bytes);
  // Begins to fill an entry, if it is still queued.
  Filling start_queued(const std::shared_ptr<Entry>& entry);
  // Removes an entry that was queued and has not been used since.
  void drop_prefetched(Entry& entry);

  // Adds to the cost of requests for parts of a chunk, as bytes that could have been read instead.
  // False, and adds nothing, if it would then be more than `most`.
  bool spend_on_parts(CachedArray& array, const Key& key, const PlaceInValue& place,
                      std::uint64_t bytes, std::uint64_t most);

  // Erases an item; with Erased::missing, only if it states that the chunk is missing.
  enum class Erased : std::uint8_t { any, missing };
  void erase(CachedArray& array, const Key& key, const PlaceInValue& place,
             Erased what = Erased::any);
  // All of one value, and all of an array. Other entries are not looked at.
  void erase_value(CachedArray& array, const std::string& key);
  void erase_all(CachedArray& array);

  // Raises the bound of chunks to `bytes` if it is lower.
  void reserve(std::uint64_t bytes);
  // Lowers the bound of chunks by the bytes that are needed elsewhere, but not below a quarter of
  // it. Each call replaces the previous one. It does not lock if nothing has to go: writers call it
  // for each chunk.
  void set_reserved_bytes(std::uint64_t bytes);

  // Takes no lock: readers that find no entries need not look for one.
  bool is_empty() const { return entries_ == 0; }
  std::uint64_t max_bytes() const { return chunks_.max_bytes; }
  std::uint64_t byte_count() const { return chunks_.bytes; }  // of chunks
  std::uint64_t prefetched_bytes() const { return prefetched_bytes_; }

 private:
  using Lock = std::lock_guard<ForkMutex>;
  // Takes nodes of CachedArray::Entries, which needs no memory.
  using Removed = std::multimap<PlaceInValue, std::shared_ptr<Entry>>;

  // The entries of one kind: chunks, or everything else.
  struct Bounded {
    std::atomic<std::uint64_t> max_bytes;
    std::atomic<std::uint64_t> bytes = 0;
    std::list<Entry*> order = {};  // most recently used first
  };

  // All are called with the lock held. Removed entries must be destroyed without it: freeing large
  // chunks takes longer than everything else here.
  std::shared_ptr<Entry> lookup(const CachedArray& array, const Key& key,
                                const PlaceInValue& place) const;
  Filling begin(CachedArray& array, const Key& key, const PlaceInValue& place,
                const Request& request);
  std::shared_ptr<Entry> make(CachedArray& array, const Key& key, const PlaceInValue& place);
  void put_in_order(std::list<Entry*>& node, Bounded& among, std::uint64_t bytes);
  void remove_from_order(Entry& entry);
  void end_prefetch(Entry& entry);
  void unlink(Entry& entry);
  void remove(Entry& entry, Removed& removed);
  void shrink(std::uint64_t request, Removed& removed);

  std::uint64_t chunk_bound() const;
  void complete(Entry& entry, Item item, bool stays, const Request& request);

  mutable ForkMutex mutex_;
  // Changed with the lock:
  Bounded chunks_;
  Bounded others_;
  std::atomic<std::uint64_t> reserved_bytes_ = 0;
  std::atomic<std::uint64_t> prefetched_bytes_ = 0;
  std::atomic<std::size_t> entries_ = 0;
  std::atomic<std::uint64_t> requests_ = 0;
  std::atomic<std::uint64_t> erasures_ = 0;
};

// An entry of the cache, guarded by the cache's lock.
class ChunkCache::Entry {
 public:
  Entry(CachedArray& array, Key key, const PlaceInValue& place)
      : array_(&array), key_(std::move(key)), place_(place) {}

 private:
  friend class ChunkCache;
  // Threads wait on it: a futex has 32 bits.
  // NOLINTNEXTLINE(performance-enum-size)
  enum class State : std::uint32_t { idle, queued, pending, pending_still };

  static bool is_pending(State state) {
    return state == State::pending || state == State::pending_still;
  }
  bool is_pending() const { return is_pending(state_) && process_ == process_id(); }
  // Wakes the threads that wait, though it is still pending. Without the lock.
  void wake();

  CachedArray* array_;  // null once it is removed
  const Key key_;
  const PlaceInValue place_;
  std::atomic<State> state_ = State::idle;
  std::atomic<long> process_ = 0;  // which is filling it
  Item item_;
  std::uint64_t request_ = 0;           // the last request that used it
  std::uint64_t bytes_ = 0;             // counted in `among_`
  std::uint64_t prefetched_bytes_ = 0;  // from queue() to the first use
  std::uint64_t spent_on_parts_ = 0;    // see there
  Bounded* among_ = nullptr;            // null while it is not in an order
  std::list<Entry*>::iterator place_in_order_;
};

// The entries of one array. Its user removes them at its end (ChunkCache::erase_all), and outlives
// the Fillings.
class CachedArray {
 public:
  explicit CachedArray(ChunkCache& cache) : cache_(cache) {}
  ~CachedArray() { cache_.erase_all(*this); }
  CachedArray(const CachedArray&) = delete;
  CachedArray& operator=(const CachedArray&) = delete;

  ChunkCache& cache() const { return cache_; }

 private:
  friend class ChunkCache;
  struct Hash {
    std::size_t operator()(const ChunkCache::Key& key) const {
      return std::hash<std::string>()(*key);
    }
  };
  struct Equal {
    bool operator()(const ChunkCache::Key& a, const ChunkCache::Key& b) const {
      return a == b || *a == *b;
    }
  };
  using Entries = std::map<PlaceInValue, std::shared_ptr<ChunkCache::Entry>>;

  ChunkCache& cache_;
  // Guarded by the lock of the cache:
  std::unordered_map<ChunkCache::Key, Entries, Hash, Equal> values_;
  std::array<std::uint64_t, 64> erased_ = {};  // the last erasures, by remainders of hashes
};

template <typename Help>
ChunkCache::Item ChunkCache::wait(Entry& entry, const Help& help) {
  Cancellation* const cancellation = Cancellation::current();
  const Cancellation::Listener waking(cancellation, [&entry] { entry.wake(); });
  bool helps = true;
  while (entry.is_pending()) {
    const auto state = entry.state_.load();
    if (cancellation != nullptr && cancellation->is_cancelled()) throw Error("cancelled");
    if (helps) {
      helps = help();
    } else if (Entry::is_pending(state)) {
      entry.state_.wait(state);
    }
  }
  const Lock lock(mutex_);
  return entry.item_;
}

}  // namespace zarrcore
