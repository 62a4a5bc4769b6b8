// A cached chunk, of which only a part was used.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "zarrcore/array/access_pattern.h"
#include "zarrcore/array/cached_item.h"
#include "zarrcore/array/chunk_walk.h"
#include "zarrcore/codec/codec_chain.h"

namespace zarrcore {

// The decoded elements of a chunk, in stored order: all, or the first ones. If its codecs compress
// blocks separately (Blosc), only the blocks that are needed are decoded, each of them once. Safe
// to use from several threads, which decode different blocks at the same time.
class CachedChunk final : public CachedItem {
 public:
  // See CachedItem.
  CachedChunk(DecodedChunk chunk, const ValueVersion& version, bool is_prefetched = false)
      : CachedItem(version, is_prefetched, Kind::chunk), chunk_(std::move(chunk)) {}
  // A chunk that is decoded in blocks of `block_size` bytes (CodecChain::block_size). The chain
  // must outlive it.
  CachedChunk(const CodecChain& chain, Buffer encoded, std::uint64_t block_size,
              const ValueVersion& version);

  // Whether elements() can have the elements that `axes` select in a chunk of `spec`.
  bool reaches(std::span<const AxisSlice> axes, const ChunkSpec& spec) const {
    return end_of(axes, spec.shape, spec.data_type.item_size) <= chunk_.elements.size();
  }
  // Whether these elements are decoded. They must be within its reach.
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
  // Threads wait on it: a futex has 32 bits.
  // NOLINTNEXTLINE(performance-enum-size)
  enum class Block : std::uint32_t { encoded, in_work, decoded };

  std::vector<bool> touched_blocks(std::span<const AxisSlice> axes) const;
  void decode_blocks(std::span<const AxisSlice> axes, AccessPattern::Request* request,
                     const Together& together) const;
  bool decode_whole() const;
  void decode_block(std::size_t block) const;
  bool claim(std::size_t block) const;
  void set(std::size_t block, Block state) const;
  void count_decoded(std::size_t blocks) const;

  mutable DecodedChunk chunk_;
  // For a chunk that is decoded in blocks:
  const CodecChain* chain_ = nullptr;
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
