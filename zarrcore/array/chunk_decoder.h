// Decoding chunks into the caller's memory, and caching those of which only a part is used.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "zarrcore/array/array_state.h"
#include "zarrcore/array/chunks_ahead.h"
#include "zarrcore/array/context.h"
#include "zarrcore/array/stored_part.h"
#include "zarrcore/base/strided.h"
#include "zarrcore/store/store.h"

namespace zarrcore {

// Memory for decoding. It also limits how many threads decode at once: others wait.
class ScratchPool {
 public:
  explicit ScratchPool(std::size_t threads);

  // Calls `body` with memory that no other thread uses until it returns.
  void with_scratch(const std::function<void(DecodedChunk&)>& body);

 private:
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<DecodedChunk> idle_;
};

// Serves one request of one array. Safe to use from several threads at once. Throws Error.
class ChunkDecoder {
 public:
  // At most `threads` threads decode at once. The converter may be null. Cached chunks are those of
  // `context`.
  ChunkDecoder(const ArrayState& array, Context& context, const ElementConverter* converter,
               std::size_t threads);

  // The cached chunk; null when it is missing, or from another version of its value.
  std::shared_ptr<const CachedChunk> find_cached(const StoredPart& part) const;

  // Copies the selected elements of a cached chunk; false when it is not cached.
  bool copy_from_cache(const StoredPart& part) const;
  // The same for a chunk that was read ahead. One that was used as a whole is not cached.
  bool copy_from_ahead(const StoredPart& part,
                       const std::shared_ptr<const CachedChunk>& chunk) const;
  // Whether a chunk that was read ahead is still missing in the store.
  bool is_still_missing(const StoredPart& part) const;
  // Decodes a chunk for its part's place ahead of a walk.
  void decode_ahead(const StoredPart& part, ByteSpan encoded, const ValueVersion& version,
                    ChunksAhead& ahead);

  // Fetched bytes of a chunk. If `owner` is not null, `bytes` are all of its bytes, and it may be
  // moved from.
  struct Encoded {
    ByteSpan bytes;
    Buffer* owner = nullptr;
    ValueVersion version = {};
  };
  // Decodes a chunk, or as much of it as is selected, to its destination.
  void decode(const StoredPart& part, Encoded encoded);

  // The same for elements that stand alone (CodecChain::elements_stand_alone): `encoded` has the
  // bytes at the given ranges of the chunk, which contain all selected elements.
  void place_elements(const StoredPart& part, std::span<const ByteRange> ranges,
                      std::span<Buffer> encoded);

  // Writes the fill value in place of a missing chunk.
  void fill(const StoredPart& part) const;

  CacheKey cache_key(const StoredPart& part) const;
  std::uint64_t request() const { return request_; }
  std::uint64_t item_size() const { return array_.metadata.data_type.item_size; }

 private:
  bool is_current(const StoredPart& part, const CachedChunk& chunk) const;
  void decode_to_cache(const StoredPart& part, Encoded encoded) const;
  void decode_whole(const StoredPart& part, ByteSpan encoded, DecodedChunk& scratch) const;
  void copy(const StoredPart& part, const std::byte* elements, std::uint64_t first = 0) const;

  const ArrayState& array_;
  Context& context_;
  std::uint64_t request_;
  std::uint64_t cache_id_;  // the array's when the request began
  const ElementConverter* converter_;
  ScratchPool scratch_;
};

}  // namespace zarrcore
