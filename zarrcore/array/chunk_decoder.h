// Decodes chunks into the caller's memory, and caches chunks of which only a part is used.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "zarrcore/array/array.h"
#include "zarrcore/array/chunk_cache.h"
#include "zarrcore/base/strided.h"
#include "zarrcore/store/store.h"

namespace zarrcore {

// Serves one request of one array. Safe to use from several threads at once. Throws Error.
class ChunkDecoder {
 public:
  // At most `threads` threads decode at once. The converter and the request may be null. `cached`
  // is where chunks of the array are cached.
  ChunkDecoder(const ArrayState& array, CachedArray& cached, const ElementConverter* converter,
               std::size_t threads, bool waits_for_others, AccessPattern::Request* request);
  ChunkDecoder(const ChunkDecoder&) = delete;
  ChunkDecoder& operator=(const ChunkDecoder&) = delete;

  // See AccessPattern::Request.
  std::uint64_t requests_per_chunk() const {
    return pattern_ == nullptr ? 1 : pattern_->requests_per_chunk();
  }
  // From now on, `together` decodes the blocks of a chunk; by default they are decoded one after
  // the other. Not while other threads use the decoder.
  void decode_blocks(CachedChunk::Together together) { together_ = std::move(together); }
  // Returns true if a chunk may be cached when it has been decoded.
  bool may_cache(const StoredPart& part) const;

  // The cached item for a part, perhaps from another version of its value.
  ChunkCache::Found find(const StoredPart& part,
                         ChunkCache::Intent intent = ChunkCache::Intent::look) const {
    return cache().find(cached_, part.key, part.place(), request_, intent);
  }
  // The current cached item of a part, or a Filling of its entry. Waits for other threads that fill
  // the entry, if the request may wait; otherwise both can be empty.
  struct FoundOrStarted {
    ChunkCache::Item item;
    ChunkCache::Filling filling;
  };
  FoundOrStarted find_or_start(const StoredPart& part) const;
  // Returns a Filling for a part whose cached item must not be used; no Filling if another thread
  // fills the entry.
  FoundOrStarted start_again(const StoredPart& part) const {
    return {nullptr, cache().start(cached_, part.key, part.place(), request_)};
  }
  // Caches an item, if the Filling is one.
  void finish(ChunkCache::Filling& filling, ChunkCache::Item item, bool stays = true) const {
    if (filling) filling.finish(std::move(item), stays, request_);
  }

  // The result of looking for the selected elements of a chunk in the cache.
  enum class Cached : std::uint8_t {
    is_copied,       // it has been copied to the destination
    was_prefetched,  // likewise, and this is the first use of the chunk
    is_missing,      // the chunk is missing in the store
    needs_decoding,  // nothing, or nothing decoded while `may_decode` is false
    is_elsewhere,    // other elements of the chunk
    is_pending,      // nothing yet: wait for `pending`
  };
  struct Lookup {
    Cached cached = Cached::needs_decoding;
    std::shared_ptr<ChunkCache::Entry> pending = nullptr;
    ChunkCache::Filling filling = {};  // for the caller, if the chunk needs decoding
  };
  // Copies the selected elements of a chunk from the cache. Without `may_decode`, only elements
  // that are already decoded.
  Lookup copy_from_cache(const StoredPart& part, bool may_decode) const;
  // The same for an item that another thread has put into an entry, and that has not stayed in the
  // cache.
  Cached copy_item(const StoredPart& part, const ChunkCache::Item& item, bool may_decode) const;

  // Calls `body` with memory for decoding. Waits while as many other threads as may decode at once
  // are in theirs. It may decode any number of chunks.
  template <typename Body>
  void with_scratch(const Body& body) {
    DecodedChunk scratch = take_scratch();
    try {
      body(scratch);
    } catch (...) {
      release(std::move(scratch));
      throw;
    }
    release(std::move(scratch));
  }
  // Fetched bytes of a chunk. If `owner` is not null, it owns `bytes`, which are all of its bytes,
  // and may be moved from. `version` is the value's version, if the chunk is a whole value and will
  // be cached.
  struct Encoded {
    ByteSpan bytes;
    Buffer* owner = nullptr;
    ValueVersion version = {};
  };
  // In with_scratch(): decodes a chunk, or as much of it as is selected, to its destination or for
  // its `filling`, if it has one.  `is_known`: other elements of it are cached.
  void decode(const StoredPart& part, Encoded encoded, ChunkCache::Filling& filling, bool is_known,
              DecodedChunk& scratch) const;

  // The same for elements that stand alone (CodecChain::elements_stand_alone): `encoded` has the
  // bytes at the given ranges of the chunk, which contain all selected elements.
  void place_elements(const StoredPart& part, std::span<const ByteRange> ranges,
                      std::span<Buffer> encoded);

  // Writes the fill value in place of a missing chunk.
  void fill(const StoredPart& part) const;

  ChunkCache& cache() const { return cached_.cache(); }
  CachedArray& cached() const { return cached_; }
  std::uint64_t item_size() const { return array_.metadata.data_type.item_size; }

 private:
  bool are_wholes(WholeChunks fate) const {
    return pattern_ != nullptr && pattern_->whole_chunks() == fate;
  }
  DecodedChunk take_scratch();
  void release(DecodedChunk scratch) noexcept;
  bool is_current(const StoredPart& part, const CachedItem& item) const;
  bool is_reuse_counted(const StoredPart& part) const;
  bool is_to_be_cached(const StoredPart& part, bool is_known) const;
  std::shared_ptr<const CachedChunk> decode_to_cache(const StoredPart& part, const Encoded& encoded,
                                                     bool is_known) const;
  std::optional<Buffer> decode_prefix(const StoredPart& part, ByteSpan encoded,
                                      bool is_known) const;
  void erase_cached(const StoredPart& part) const {
    cache().erase(cached_, part.key, part.place());
  }
  void decode_whole(const StoredPart& part, ByteSpan encoded, DecodedChunk& scratch) const;
  void copy(const StoredPart& part, const std::byte* elements, std::uint64_t first = 0) const;

  const ArrayState& array_;
  CachedArray& cached_;
  ChunkCache::Request request_;
  std::uint64_t moment_;  // when it began, as the store counts
  const ElementConverter* converter_;
  bool waits_for_others_;
  AccessPattern::Request* pattern_;
  CachedChunk::Together together_;

  const std::size_t threads_;  // that may decode at once
  std::mutex mutex_;           // guards the following
  std::condition_variable released_;
  std::size_t left_;  // how many more threads may decode now
  std::vector<DecodedChunk> free_;
};

}  // namespace zarrcore
