// Decoding chunks into the caller's memory, and caching those of which only a part is used.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "zarrcore/array/array_state.h"
#include "zarrcore/array/chunks_ahead.h"
#include "zarrcore/array/context.h"
#include "zarrcore/array/repeated_reads.h"
#include "zarrcore/array/stored_part.h"
#include "zarrcore/base/strided.h"
#include "zarrcore/store/store.h"

namespace zarrcore {

// Memory for decoding. It also limits how many threads decode at once: others wait.
class ScratchPool {
 public:
  explicit ScratchPool(std::size_t threads);

  // Calls `body` with memory that no other thread uses until it returns.
  template <typename Body>
  void with_scratch(const Body& body) {
    Slot& slot = take();
    try {
      body(slot.chunk);
    } catch (...) {
      put_back(slot);
      throw;
    }
    put_back(slot);
  }

 private:
  // Of a size that keeps what one thread writes from the cache lines of others.
  struct alignas(64) Slot {
    std::atomic<bool> is_taken = false;
    DecodedChunk chunk;
  };

  Slot* take_free();  // null if all are taken
  Slot& take();
  void put_back(Slot& slot);

  std::size_t count_;
  std::unique_ptr<Slot[]> slots_;
  std::atomic<std::uint32_t> waiting_ = 0;  // threads without a slot
  std::atomic<std::uint32_t> returns_ = 0;  // on which they wait
};

// Serves one request of one array. Safe to use from several threads at once. Throws Error.
class ChunkDecoder {
 public:
  // At most `threads` threads decode at once. The converter may be null. Cached chunks are those of
  // `context`.
  ChunkDecoder(const ArrayState& array, Context& context, const ElementConverter* converter,
               std::size_t threads);
  ~ChunkDecoder();
  ChunkDecoder(const ChunkDecoder&) = delete;
  ChunkDecoder& operator=(const ChunkDecoder&) = delete;

  // Until then, chunks that are used as a whole are not expected to be needed again.
  void expect(WholeChunks whole_chunks) { whole_chunks_ = whole_chunks; }
  // Until then, chunks of which parts are used are cached if the array's ChunkReuse says so.
  void expect_reuse() { reuse_is_likely_ = true; }
  // Whether a chunk may be cached when it has been decoded.
  bool may_cache(const StoredPart& part) const;

  // The cached chunk, of which perhaps only the first elements are decoded; null when it is not
  // cached, or from another version of its value.
  std::shared_ptr<const CachedChunk> find_cached(const StoredPart& part) const;

  // Caches a chunk for other requests, unless the array has put its value since this one began: it
  // may have read the old one.
  void cache(const StoredPart& part, const std::shared_ptr<const CachedChunk>& chunk) const;

  // Whether the selected elements of the chunk are cached, or can be decoded from what is.
  bool has_cached(const StoredPart& part) const;
  // Copies the selected elements of a chunk from the cache; false when they are not cached, or
  // would have to be decoded while `may_decode` is false.
  bool copy_from_cache(const StoredPart& part, bool may_decode) const;
  // The same for a chunk that was read ahead.
  bool copy_from_ahead(const StoredPart& part,
                       const std::shared_ptr<const CachedChunk>& chunk) const;
  // Whether a chunk that was read ahead is still missing in the store.
  bool is_still_missing(const StoredPart& part) const;

  // Calls `body` with memory for decoding. Waits while as many other threads as may decode at once
  // are in theirs. It may decode any number of chunks.
  template <typename Body>
  void with_scratch(const Body& body) {
    scratch_.with_scratch(body);
  }
  // Fetched bytes of a chunk. If `owner` is not null, `bytes` are all of its bytes, and it may be
  // moved from. If the chunk is a value of its own, and to be kept, `version` is the value's.
  struct Encoded {
    ByteSpan bytes;
    Buffer* owner = nullptr;
    ValueVersion version = {};
  };
  // In with_scratch(): decodes a chunk for its part's place ahead of a walk.
  void decode_ahead(const StoredPart& part, const Encoded& encoded, ChunksAhead& ahead) const;
  // In with_scratch(): decodes a chunk, or as much of it as is selected, to its destination.
  void decode(const StoredPart& part, Encoded encoded, DecodedChunk& scratch) const;

  // The same for elements that stand alone (CodecChain::elements_stand_alone): `encoded` has the
  // bytes at the given ranges of the chunk, which contain all selected elements.
  void place_elements(const StoredPart& part, std::span<const ByteRange> ranges,
                      std::span<Buffer> encoded);

  // Writes the fill value in place of a missing chunk.
  void fill(const StoredPart& part) const;

  CacheKey cache_key(const StoredPart& part) const;
  // The key of a chunk that is read ahead: after an invalidation, it is another one.
  CacheKey ahead_key(const StoredPart& part) const;
  // When the request began, as the store counts.
  std::uint64_t moment() const { return moment_; }
  std::uint64_t item_size() const { return array_.metadata.data_type.item_size; }

 private:
  std::shared_ptr<const CachedChunk> find_cached(const StoredPart& part, const CacheKey& key) const;
  bool is_current(const StoredPart& part, const CachedChunk& chunk) const;
  bool is_reuse_counted(const StoredPart& part) const;
  bool is_to_be_cached(const StoredPart& part) const;
  void decode_to_cache(const StoredPart& part, Encoded encoded) const;
  std::optional<Buffer> decode_prefix(const StoredPart& part, ByteSpan encoded) const;
  void decode_whole(const StoredPart& part, ByteSpan encoded, DecodedChunk& scratch) const;
  void copy(const StoredPart& part, const std::byte* elements, std::uint64_t first = 0) const;

  const ArrayState& array_;
  Context& context_;
  std::uint64_t request_;
  std::uint64_t moment_;
  // When the request began, in this order: what was read ahead before an erasure has another key.
  std::uint64_t erasures_;  // of the context's chunks
  std::uint64_t cache_id_;  // the array's, as the next one
  std::uint64_t invalidations_;
  const ElementConverter* converter_;
  WholeChunks whole_chunks_ = WholeChunks::pass;
  bool reuse_is_likely_;
  // See ChunkReuse::Counts.
  mutable std::atomic<std::uint64_t> used_before_ = 0;
  mutable std::atomic<std::uint64_t> new_ = 0;
  ScratchPool scratch_;
};

}  // namespace zarrcore
