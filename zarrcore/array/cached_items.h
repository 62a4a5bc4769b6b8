// Cached items of the values of a store: chunks, indexes of shards, and the fact that a value is
// missing; and the single rule whether an item may still be used (CachedItem::is_current).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "zarrcore/array/access_pattern.h"
#include "zarrcore/array/chunk_walk.h"
#include "zarrcore/codec/codec_chain.h"
#include "zarrcore/codec/sharding.h"
#include "zarrcore/store/store.h"
#include "zarrcore/store/value_version.h"

namespace zarrcore {

// An object of this class itself states that a chunk, or the value it is in, is missing. Safe to
// use from several threads at once.
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

// The decoded index of a shard.
struct CachedIndex final : CachedItem {
  CachedIndex(ShardIndex shard_index, const ValueVersion& version, bool is_pinned)
      : CachedItem(version, is_pinned, Kind::index), index(std::move(shard_index)) {}

  std::uint64_t byte_count() const override { return index.byte_count(); }

  const ShardIndex index;
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

}  // namespace zarrcore
