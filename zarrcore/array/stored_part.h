// The bytes that the engine requests from a store for one chunk, inner chunk or shard.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "zarrcore/array/chunk_cache.h"
#include "zarrcore/array/chunk_walk.h"
#include "zarrcore/base/buffer.h"
#include "zarrcore/codec/codec_chain.h"
#include "zarrcore/store/store.h"

namespace zarrcore {

// The encoded bytes of a chunk, inner chunk or shard, and where the selected elements of it go. In
// stored order (codec_chain.h): the transposes of the chain have permuted the dimensions.
struct StoredPart {
  SharedChain chain;
  std::shared_ptr<const std::string> key;  // of the store
  std::uint64_t position = 0;              // see PlaceInValue
  // Inside a shard: the version of the shard's value that `offset` and `length` refer to. It is
  // read through `value`, and items cached from it have this version.
  std::shared_ptr<OpenValue> value;
  ValueVersion version;
  // The encoded bytes are at this place in the value of the key, or, inside a shard that had to be
  // fetched as a whole, in `bytes`.
  std::shared_ptr<const Buffer> bytes;
  std::uint64_t offset = 0;
  std::uint64_t length = kWholeValue;
  // Inside a shard that is inside of a shard, and had to be fetched as a whole: where that is.
  std::optional<std::uint64_t> shard_offset = {};
  std::vector<AxisSlice> axes;
  std::byte* destination = nullptr;        // null: the chunk is only put into the cache
  ChunkCache::Filling* filling = nullptr;  // not null: the chunk is prefetched into this entry

  // Returns true if later reads may use it even if its value has been removed.
  bool is_pinned() const { return destination == nullptr && filling == nullptr; }

  PlaceInValue place() const { return {chain, position}; }
  // For messages.
  std::string name() const {
    if (!shard_offset) return *key;
    return *key + ", inner shard at offset " + std::to_string(*shard_offset);
  }

  // The length of a chunk that is stored as a whole value.
  static constexpr std::uint64_t kWholeValue = UINT64_MAX;
  bool is_whole_value() const { return length == kWholeValue; }
};

}  // namespace zarrcore
