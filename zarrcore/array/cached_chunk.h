// A cached chunk, of which only a part was used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "zarrcore/array/chunk_walk.h"
#include "zarrcore/codec/codec_chain.h"
#include "zarrcore/store/value_version.h"

namespace zarrcore {

// The version of the value that something was cached from, and whether it was prefetched: then it
// is still used after the value has been removed.
struct KeptState {
  ValueVersion version;
  bool is_prefetched = false;

  // Whether it may be used when the value has the version `current`.
  bool is_good_for(const ValueVersion& current) const {
    if (!is_prefetched) return version.is_good_for(current);
    return current.is_absent() || !version.differs_from(current);
  }
};

// The decoded elements of a chunk, in stored order. If its codecs compress blocks separately
// (Blosc), only the blocks that are needed are decoded, each of them once. Safe to use from several
// threads.
class CachedChunk {
 public:
  // `state` is that of the value that it was read from.
  CachedChunk(DecodedChunk chunk, const KeptState& state)
      : state_(state), chunk_(std::move(chunk)) {}
  // A chunk that is decoded in blocks of `block_size` bytes (CodecChain::block_size).
  CachedChunk(const CodecChain& chain, Buffer encoded, std::uint64_t block_size,
              const KeptState& state);

  const KeptState& state() const { return state_; }

  // The chunk, in which at least the elements that `axes` select are decoded. Throws Error.
  const std::byte* elements(std::span<const AxisSlice> axes) const;
  // All elements of a chunk that is not decoded in blocks.
  const Buffer& all() const { return chunk_.elements; }

  // The memory in use at present.
  std::uint64_t byte_count() const;

 private:
  void decode_blocks(std::span<const AxisSlice> axes) const;

  KeptState state_;
  mutable DecodedChunk chunk_;
  // For a chunk that is decoded in blocks:
  const CodecChain* chain_ = nullptr;
  std::size_t block_size_ = 0;
  mutable std::mutex mutex_;
  mutable Buffer encoded_;  // until all blocks are decoded
  mutable std::vector<bool> is_decoded_;
  mutable std::size_t missing_ = 0;
};

}  // namespace zarrcore
