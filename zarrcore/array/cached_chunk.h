// A chunk in the cache of those that are used in part.
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

// What is kept of a value: its version, and whether somebody asked in advance for it to be kept,
// who does not miss the value when it is removed afterwards.
struct KeptState {
  ValueVersion version;
  bool is_prefetched = false;

  // Whether it may be used now that the value has version `current`.
  bool is_good_for(const ValueVersion& current) const {
    if (!is_prefetched) return version.is_good_for(current);
    return current.is_absent() || !version.differs_from(current);
  }
};

// The decoded elements of a chunk, in stored order. Where the codecs allow it, only those blocks of
// it are decoded that somebody has asked for; each of them once. Safe to use from several threads.
class CachedChunk {
 public:
  // `state` is that of the value it was read from.
  CachedChunk(DecodedChunk chunk, const KeptState& state)
      : state_(state), chunk_(std::move(chunk)) {}
  // A chunk that is decoded in blocks of `block_size` bytes (CodecChain::block_size).
  CachedChunk(const CodecChain& chain, Buffer encoded, std::uint64_t block_size,
              const KeptState& state);

  const KeptState& state() const { return state_; }

  // The chunk, in which the elements that `axes` select are decoded. Throws Error when they cannot
  // be.
  const std::byte* elements(std::span<const AxisSlice> axes) const;
  // All of a chunk that is not in blocks.
  const Buffer& all() const { return chunk_.elements; }

  // Of what is kept just now.
  std::uint64_t byte_count() const;

 private:
  void decode_blocks(std::span<const AxisSlice> axes) const;

  KeptState state_;
  mutable DecodedChunk chunk_;
  // Of a chunk in blocks:
  const CodecChain* chain_ = nullptr;
  std::uint64_t block_size_ = 0;
  mutable std::mutex mutex_;
  mutable Buffer encoded_;  // as long as blocks are missing
  mutable std::vector<bool> is_decoded_;
  mutable std::size_t missing_ = 0;
};

}  // namespace zarrcore
