// The chunks of an array that are encoded and put while the program goes on.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>

#include "zarrcore/array/first_error.h"
#include "zarrcore/array/task_group.h"
#include "zarrcore/array/thread_pool.h"

namespace zarrcore {

// May be used by several threads at once. The pool must outlive it.
class WriteQueue {
 public:
  explicit WriteQueue(ThreadPool& pool) : puts_(pool), encodings_(pool) {}

  // How a job runs: on up to `threads` threads at once, inside of `scope`, unless it is empty.
  struct Way {
    std::size_t threads = 1;
    WorkerScope scope = nullptr;
  };

  // Queues a job that encodes `bytes`. The first exception of a job is kept for take_error().
  void post_encoding(const Way& way, std::uint64_t bytes, std::function<void()> job);
  // Queues a job that puts `bytes`. It may be called by a job.
  void post_put(const Way& way, std::uint64_t bytes, std::function<void()> job);

  // Of the jobs that are queued or running.
  std::uint64_t bytes() const { return total_.bytes; }
  std::size_t jobs() const { return total_.jobs; }

  // Runs a job on the calling thread, or waits until one has ended. False when there is none.
  bool help() { return encodings_.help() || puts_.help(); }

  // Drops the queued jobs, and waits for those that are running.
  void cancel();

  // The first error since the last call; null if there is none.
  std::exception_ptr take_error() { return error_.take(); }

 private:
  // Of the jobs that are queued or running.
  struct Total {
    std::atomic<std::uint64_t> bytes{0};
    std::atomic<std::size_t> jobs{0};
  };
  class Counted;

  void post(TaskGroup& group, const Way& way, std::uint64_t bytes, std::function<void()> job);

  Total total_;
  FirstError error_;
  TaskGroup puts_;
  TaskGroup encodings_;  // after `puts_`, to which its tasks post
};

}  // namespace zarrcore
