// The chunks of an array that background writer threads encode and put.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <utility>

#include "zarrcore/array/thread_pool.h"

namespace zarrcore {

// May be used by several threads at once. The pool must outlive it.
class WriteQueue {
 public:
  explicit WriteQueue(ThreadPool& pool) : puts_(pool), encodings_(pool) {}

  // How a job runs: on up to `threads` threads at once, inside of `scope`, unless it is empty.
  struct JobOptions {
    std::size_t threads = 1;
    WorkerScope scope = nullptr;
  };

  // Queues a job that encodes `bytes`. The first exception of a job is stored for take_error().
  void post_encoding(const JobOptions& options, std::uint64_t bytes, std::function<void()> job) {
    post(encodings_, options, bytes, std::move(job));
  }
  // Queues a job that puts `bytes`. It may be called by a job.
  void post_put(const JobOptions& options, std::uint64_t bytes, std::function<void()> job) {
    post(puts_, options, bytes, std::move(job));
  }

  // The bytes and the number of the jobs that are queued or running.
  std::uint64_t bytes() const { return bytes_; }
  std::size_t jobs() const { return jobs_; }

  // Runs a job on the calling thread, or waits until one has ended. Returns false if there is no
  // job.
  bool help() { return encodings_.help() || puts_.help(); }

  // Drops the queued jobs, and waits for those that are running.
  void cancel() {
    encodings_.cancel();
    puts_.cancel();
  }

  // Returns the first error since the last call; null if no job has failed.
  std::exception_ptr take_error() { return error_.take(); }

 private:
  // Counts a job until it has run or is dropped.
  class CountedJob {
   public:
    CountedJob(WriteQueue& queue, std::uint64_t bytes) : queue_(queue), bytes_(bytes) {
      queue_.bytes_ += bytes_;
      ++queue_.jobs_;
    }
    ~CountedJob() {
      queue_.bytes_ -= bytes_;
      --queue_.jobs_;
    }
    CountedJob(const CountedJob&) = delete;
    CountedJob& operator=(const CountedJob&) = delete;

   private:
    WriteQueue& queue_;
    std::uint64_t bytes_;
  };

  void post(TaskGroup& group, const JobOptions& options, std::uint64_t bytes,
            std::function<void()> job) {
    auto counted = std::make_shared<const CountedJob>(*this, bytes);
    group.post(
        [this, scope = options.scope, counted = std::move(counted), job = std::move(job)] {
          const auto run = [&] { error_.keep(job); };
          scope ? scope(run) : run();
        },
        options.threads);
  }

  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<std::size_t> jobs_{0};
  FirstError error_;
  TaskGroup puts_;
  TaskGroup encodings_;  // after `puts_`, to which its tasks post
};

}  // namespace zarrcore
