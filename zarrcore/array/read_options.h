// How a selection is read, what reading it took (chunks and time, to find out why it is slow), and
// the threads and the cache that the arrays of a program share.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "zarrcore/array/chunk_cache.h"
#include "zarrcore/array/thread_pool.h"
#include "zarrcore/base/buffer_memory.h"

namespace zarrcore {

// Safe to use from several threads at once. Chunks are inner chunks, if the array has shards; a
// missing shard counts as one missing chunk. Prefetched chunks count when they are used; the time
// for reading them does not.
struct ReadStatistics {
  std::atomic<std::uint64_t> fetched_chunks{0};
  std::atomic<std::uint64_t> decoded_chunks{0};
  std::atomic<std::uint64_t> cached_chunks{0};
  std::atomic<std::uint64_t> missing_chunks{0};
  // The sum of all threads. Opening shards is a part of fetching.
  std::atomic<std::uint64_t> fetch_nanoseconds{0};
  std::atomic<std::uint64_t> decode_nanoseconds{0};

  using Count = std::atomic<std::uint64_t> ReadStatistics::*;
};

// Measures a stage from its construction to its destruction, unless `statistics` is null.
class MeasuredStage {
 public:
  MeasuredStage(ReadStatistics* statistics, ReadStatistics::Count nanoseconds)
      : statistics_(statistics), nanoseconds_(nanoseconds) {
    if (statistics_ != nullptr) began_ = std::chrono::steady_clock::now();
  }
  ~MeasuredStage() {
    if (statistics_ == nullptr) return;
    const auto passed = std::chrono::steady_clock::now() - began_;
    statistics_->*nanoseconds_ += static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(passed).count());
  }
  MeasuredStage(const MeasuredStage&) = delete;
  MeasuredStage& operator=(const MeasuredStage&) = delete;

 private:
  ReadStatistics* statistics_;
  ReadStatistics::Count nanoseconds_;
  std::chrono::steady_clock::time_point began_;
};

// Adds to a count, unless `statistics` is null.
inline void count_chunks(ReadStatistics* statistics, ReadStatistics::Count count,
                         std::uint64_t chunks = 1) {
  if (statistics != nullptr) statistics->*count += chunks;
}

struct ReadOptions {
  std::size_t threads = 1;
  WorkerScope worker_scope = nullptr;
  // True if it may wait for chunks that other requests are reading. Not if their I/O needs
  // something that the calling thread may hold, as file systems written in Python do.
  bool waits_for_others = true;
  // True if a missing chunk is an error, which names it, instead of the fill value.
  bool missing_chunks_are_errors = false;
  ReadStatistics* statistics = nullptr;  // added to, if not null
  // Makes a scope for work that continues after the read has returned. Null: nothing is prefetched.
  std::function<WorkerScope()> lasting_scope = nullptr;
};

// The resources that the arrays of a program share: threads and a cache, both bounded.
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
