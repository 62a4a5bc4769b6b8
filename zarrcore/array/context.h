// The resources that the arrays of a program share: threads and a cache, both bounded.
#pragma once

#include <atomic>
#include <cstdint>

#include "zarrcore/array/chunk_cache.h"
#include "zarrcore/array/thread_pool.h"
#include "zarrcore/base/buffer_memory.h"

namespace zarrcore {

struct Context {
  static constexpr std::uint64_t kDefaultChunkCacheBytes = std::uint64_t{192} << 20;
  static constexpr std::uint64_t kDefaultIndexCacheBytes = std::uint64_t{32} << 20;

  explicit Context(std::uint64_t chunk_cache_bytes = kDefaultChunkCacheBytes,
                   std::uint64_t index_cache_bytes = kDefaultIndexCacheBytes)
      : chunks(chunk_cache_bytes, index_cache_bytes) {
    expect_large_buffers();
  }

  ThreadPool pool;
  ChunkCache chunks;                            // gives up memory for pending chunks
  std::atomic<std::uint64_t> pending_bytes{0};  // of all writers
};

}  // namespace zarrcore
