// Prefetching: while requests walk through an array (access_pattern.h), idle threads fetch and
// decode the chunks that the next requests will need. These become ordinary entries of the cache
// (chunk_cache.h), queued at first.
//
// Prefetching begins after some requests of a walk, and ends with the walk. The number of
// prefetched chunks is limited: to the chunks that the walk has read so far, unless the program has
// announced what it will read; to what a request needs or a small multiple of the threads (for
// stores with slow requests: of the requests that run in parallel); and to a quarter of the bytes
// of the cache.
//
// Errors are dropped: the reader then reads the chunk itself and gets the error.
#pragma once

#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "zarrcore/array/access_pattern.h"
#include "zarrcore/array/array.h"
#include "zarrcore/array/chunk_cache.h"
#include "zarrcore/array/selection.h"
#include "zarrcore/array/thread_pool.h"
#include "zarrcore/base/process.h"

namespace zarrcore {

// Prefetches chunks of one array, which must outlive it. Safe to use from several threads at once.
class Prefetcher {
 public:
  explicit Prefetcher(const ArrayState& array)
      : array_(array), tasks_(array.context->pool, cancellation_) {}
  // Cancels the tasks that are running, and waits until they have ended.
  ~Prefetcher();
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  // A request while it is being read. At its start, the chunks expected next are queued, and other
  // queued chunks are dropped.
  class Reading {
   public:
    // `prefetcher` may be null: nothing is prefetched.
    Reading(Prefetcher* prefetcher, const AccessPattern::Request& request,
            const ReadOptions& options)
        : prefetcher_(prefetcher), request_(request) {
      try {
        if (prefetcher_ != nullptr) prefetcher_->plan(request, options);
      } catch (const std::exception&) {
        // Without memory, or worker threads, nothing is prefetched.
      }
    }
    ~Reading() {
      if (prefetcher_ != nullptr) prefetcher_->end(request_);
    }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

   private:
    Prefetcher* prefetcher_;
    const AccessPattern::Request& request_;
  };

  // For a request that waits: reads the next chunks. False when there are none.
  bool help() { return !array_.pattern->is_remote() && read_next(); }

 private:
  // A chunk, or an inner chunk of a shard.
  struct Prefetched {
    Box box;          // its elements
    StoredPart part;  // of its value: the chunk, or the shard that it is in
    std::shared_ptr<ChunkCache::Entry> entry;
  };
  using PrefetchedPtr = std::shared_ptr<const Prefetched>;

  void plan(const AccessPattern::Request& request, const ReadOptions& options);
  void end(const AccessPattern::Request& request);
  void add(const Box& chunk);
  // Drops all chunks but those for which `is_wanted` returns true.
  void keep(const std::function<bool(const Box&)>& is_wanted);
  WorkerScope cancellable(WorkerScope scope) const;
  void post_tasks();
  void run_task();
  bool read_next();

  const ArrayState& array_;
  ForkMutex mutex_;  // guards the following
  std::map<Shape, PrefetchedPtr>
      prefetched_;                   // by the start of their boxes, until a request has met them
  std::deque<PrefetchedPtr> queue_;  // entries that no task has begun
  WorkerScope scope_;
  std::size_t threads_ = 1;
  std::size_t posted_ = 0;
  bool is_closing_ = false;

  std::shared_ptr<Cancellation> cancellation_ = std::make_shared<Cancellation>();
  TaskGroup tasks_;
};

}  // namespace zarrcore
