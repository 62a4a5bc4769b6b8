// What the arrays of a program share: threads and caches, both bounded.
#pragma once

#include <atomic>
#include <cstdint>

#include "zarrcore/array/cache_key.h"
#include "zarrcore/array/cached_chunk.h"
#include "zarrcore/array/thread_pool.h"
#include "zarrcore/base/buffer.h"
#include "zarrcore/base/free_memory.h"
#include "zarrcore/base/lru_cache.h"
#include "zarrcore/codec/sharding.h"

namespace zarrcore {

// The index of a shard, and the version of the value it was read from.
struct CachedIndex {
  ShardIndex index;
  KeptState state;
};

template <typename Value>
using ArrayCache = LruCache<CacheKey, Value, CacheKeyHash>;

struct Context {
  static constexpr std::uint64_t kDefaultChunkCacheBytes = std::uint64_t{192} << 20;
  static constexpr std::uint64_t kDefaultIndexCacheBytes = std::uint64_t{32} << 20;

  explicit Context(std::uint64_t chunk_cache_bytes = kDefaultChunkCacheBytes,
                   std::uint64_t index_cache_bytes = kDefaultIndexCacheBytes)
      : chunks(chunk_cache_bytes), shard_indexes(index_cache_bytes) {
    expect_large_buffers();
  }

  ThreadPool pool;
  // Decoded, in stored order; for shards that are compressed as a whole, their bytes.
  ArrayCache<CachedChunk> chunks;         // gives up memory for pending chunks
  ArrayCache<CachedIndex> shard_indexes;  // decoded
  // The cost of requests for parts of chunks, as the bytes that could have been read instead.
  ArrayCache<std::uint64_t> spent_on_parts{std::uint64_t{4} << 20};
  std::atomic<std::uint64_t> pending_bytes{0};  // of all writers
  std::atomic<std::uint64_t> ahead_bytes{0};    // of chunks that are read ahead of walks
  std::atomic<std::uint64_t> requests{0};       // the last request number of the caches
};

}  // namespace zarrcore
