// Decoding chunks to their place in the caller's memory, and keeping those that are used in part.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "zarrcore/array/chunk_walk.h"
#include "zarrcore/array/context.h"
#include "zarrcore/store/store.h"

namespace zarrcore {

// What is wanted of one chunk, inner chunk or shard, and where it goes.
struct ChunkPart {
  const CodecChain* chain = nullptr;
  // The store's key; of a part inside a shard that had to be decompressed, a name for that shard.
  std::shared_ptr<const std::string> key;
  // Of a part of a shard: the state of the shard's value that the place below is of. Through
  // `value`, that state is read; what is kept of it has the version.
  std::shared_ptr<OpenValue> value;
  ValueVersion version;
  // Where the encoded chunk stands in the value of the key, or, inside a shard that had to be
  // decompressed as a whole, in those bytes.
  std::shared_ptr<const Buffer> bytes;
  std::uint64_t offset = 0;
  std::uint64_t length = kWholeValue;
  std::vector<AxisSlice> axes;
  std::byte* destination = nullptr;  // null: the chunk goes to the cache alone

  // The length of a chunk that is all of its value.
  static constexpr std::uint64_t kWholeValue = UINT64_MAX;
  bool is_whole_value() const { return length == kWholeValue; }
};

// Memory for decoding, for as many threads as may decode at once: others wait until one is done.
class ScratchPool {
 public:
  explicit ScratchPool(std::size_t threads);

  // Calls `body` with memory that nobody else has meanwhile.
  void with_scratch(const std::function<void(DecodedChunk&)>& body);

 private:
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<DecodedChunk> idle_;
};

// All for one request of one array. Safe to use from several threads at once. Throws Error.
class ChunkDecoder {
 public:
  // At most `threads` threads decode at once. The converter may be null.
  ChunkDecoder(Store& store, Context& context, std::uint64_t array_id,
               std::span<const std::byte> fill_value, std::uint64_t item_size,
               const ElementConverter* converter, std::size_t threads);

  // The chunk in the cache; null when it is not there, or of another state of its value.
  std::shared_ptr<const CachedChunk> find_cached(const ChunkPart& part) const;

  // Copies what is wanted of a chunk that is in the cache; false when it is not.
  bool copy_from_cache(const ChunkPart& part) const;

  // What has been fetched of a chunk: `bytes` are all of `owner`, which may be taken, if there is
  // one.
  struct Encoded {
    ByteSpan bytes;
    Buffer* owner = nullptr;
    ValueVersion version = {};
  };
  // Decodes a chunk, or as much of it as is wanted, to its place.
  void decode(const ChunkPart& part, Encoded encoded);

  // The same of elements that stand alone (CodecChain::elements_stand_alone): what stands in the
  // given ranges of the chunk, which hold what is wanted.
  void place_elements(const ChunkPart& part, std::span<const ByteRange> ranges,
                      std::span<Buffer> encoded);

  // Puts the fill value where an absent chunk belongs.
  void fill(const ChunkPart& part) const;

  CacheKey cache_key(const ChunkPart& part) const;
  std::uint64_t request() const { return request_; }
  std::uint64_t item_size() const { return item_size_; }

 private:
  void decode_to_cache(const ChunkPart& part, Encoded encoded) const;
  void decode_whole(const ChunkPart& part, ByteSpan encoded, DecodedChunk& scratch) const;
  void copy(const ChunkPart& part, const std::byte* elements, std::uint64_t first = 0) const;

  Store& store_;
  Context& context_;
  std::uint64_t request_;
  std::uint64_t array_id_;
  std::span<const std::byte> fill_value_;
  std::uint64_t item_size_;
  const ElementConverter* converter_;
  ScratchPool scratch_;
};

}  // namespace zarrcore
