// What the engine asks of a store for one chunk, inner chunk or shard.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "zarrcore/array/chunk_walk.h"
#include "zarrcore/base/buffer.h"
#include "zarrcore/codec/codec_chain.h"
#include "zarrcore/store/store.h"

namespace zarrcore {

class ChunkAhead;

// The encoded bytes of a chunk, inner chunk or shard, and where the selected elements of it go. In
// stored order (codec_chain.h): the transposes of the chain have permuted the dimensions.
struct StoredPart {
  const CodecChain* chain = nullptr;
  // The store's key. Inside a shard that had to be fetched as a whole: a name for that shard.
  std::shared_ptr<const std::string> key;
  // Inside a shard: the version of the shard's value that `offset` and `length` refer to. It is
  // read through `value`, and what is cached of it has this version.
  std::shared_ptr<OpenValue> value;
  ValueVersion version;
  // The encoded bytes are at this place in the value of the key, or, inside a shard that had to be
  // fetched as a whole, in `bytes`.
  std::shared_ptr<const Buffer> bytes;
  std::uint64_t offset = 0;
  std::uint64_t length = kWholeValue;
  std::vector<AxisSlice> axes;
  std::byte* destination = nullptr;  // null: the chunk is only put into the cache, or
  ChunkAhead* ahead = nullptr;       // read ahead of a walk

  // Whether later reads find it even if its value has been removed by then.
  bool is_prefetched() const { return destination == nullptr && ahead == nullptr; }

  // The length of a chunk that is a value of its own.
  static constexpr std::uint64_t kWholeValue = UINT64_MAX;
  bool is_whole_value() const { return length == kWholeValue; }
};

}  // namespace zarrcore
