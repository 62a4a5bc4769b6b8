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

// The decoded elements of a chunk, in stored order. Where the codecs allow it, only those blocks of
// it are decoded that somebody has asked for; each of them once. Safe to use from several threads.
class CachedChunk {
 public:
  // `version` is that of the value it was read from.
  CachedChunk(DecodedChunk chunk, const ValueVersion& version)
      : version_(version), chunk_(std::move(chunk)) {}
  // A chunk that is decoded in blocks of `block_size` bytes (CodecChain::block_size).
  CachedChunk(const CodecChain& chain, Buffer encoded, std::uint64_t block_size,
              const ValueVersion& version);

  const ValueVersion& version() const { return version_; }

  // The chunk, in which the elements that `axes` select are decoded. Throws Error when they cannot
  // be.
  const std::byte* elements(std::span<const AxisSlice> axes) const;
  // All of a chunk that is not in blocks.
  const Buffer& all() const { return chunk_.elements; }

  // Of what is kept just now.
  std::uint64_t byte_count() const;

 private:
  void decode_blocks(std::span<const AxisSlice> axes) const;

  ValueVersion version_;
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
