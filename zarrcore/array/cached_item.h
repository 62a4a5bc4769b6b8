// What a cache has of a value of a store, and the one rule that says whether it may still be used.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "zarrcore/codec/sharding.h"
#include "zarrcore/store/store.h"
#include "zarrcore/store/value_version.h"

namespace zarrcore {

// Of this class itself: that a chunk, or the value it is in, is missing. Safe to use from several
// threads at once.
class CachedItem {
 public:
  enum class Kind : std::uint8_t { missing, index, chunk };

  // `version` is that of the value that it was made from. `is_prefetched`: it was read for later
  // reads (Array::prefetch), and is still used after the value has been removed.
  explicit CachedItem(const ValueVersion& version, bool is_prefetched = false,
                      Kind kind = Kind::missing)
      : version_(version), is_prefetched_(is_prefetched), kind_(kind) {}
  virtual ~CachedItem() = default;
  CachedItem(const CachedItem&) = delete;
  CachedItem& operator=(const CachedItem&) = delete;

  Kind kind() const { return kind_; }
  bool is_missing() const { return kind_ == Kind::missing; }
  // The memory in use at present.
  virtual std::uint64_t byte_count() const { return 0; }

  const ValueVersion& version() const { return version_; }
  bool is_prefetched() const { return is_prefetched_; }

  // Returns true if it may be used when the value has the version `current`.
  bool is_good_for(const ValueVersion& current) const {
    if (!is_prefetched_) return version_.is_good_for(current);
    return current.is_absent() || !version_.differs_from(current);
  }
  // Returns true if it may be used in a request that began at this moment of the store's watch;
  // zero if the store has none. The value is at `key` of the store.
  bool is_current(Store& store, const std::string& key, std::uint64_t moment) const;

 private:
  ValueVersion version_;
  bool is_prefetched_;
  Kind kind_;
  // That of the value when it was last seen to have this version (ValueWatch::stamp).
  mutable std::atomic<std::uint64_t> stamp_ = 0;
};

// The decoded index of a shard.
struct CachedIndex final : CachedItem {
  CachedIndex(ShardIndex shard_index, const ValueVersion& version, bool is_prefetched)
      : CachedItem(version, is_prefetched, Kind::index), index(std::move(shard_index)) {}

  std::uint64_t byte_count() const override { return index.byte_count(); }

  const ShardIndex index;
};

}  // namespace zarrcore
