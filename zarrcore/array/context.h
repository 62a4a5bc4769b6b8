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

// The index of a shard, and the state of the value it was read from.
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
  // Decoded, in stored order; and, where a chain compresses shards as a whole, their bytes.
  ArrayCache<CachedChunk> chunks;         // makes way for what waits to be written
  ArrayCache<CachedIndex> shard_indexes;  // decoded
  // What the requests for parts of chunks have cost, in bytes that could have been had instead.
  ArrayCache<std::uint64_t> spent_on_parts{std::uint64_t{4} << 20};
  std::atomic<std::uint64_t> waiting_bytes{0};  // in all writers
  std::atomic<std::uint64_t> requests{0};       // their numbers, as the caches count them
};

}  // namespace zarrcore
