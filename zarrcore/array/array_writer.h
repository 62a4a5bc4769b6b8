// Writing selections of an array, and reading them back. The life of a chunk that is written:
//
//   stored    In the store, or missing there.
//   pending   write() has copied elements to it, in memory, and the rest has not been written yet.
//             A chunk that is written in part starts from its stored elements. Inner chunks of a
//             shard are encoded as soon as all of their elements have been written.
//   complete  All of it has been written. It is encoded and put: at once, or by background writer
//             threads (WriteQueue), while the caller continues.
//   stored    A put is all or nothing, and erases what is cached of the old value. If another
//             writer has put the chunk since it was read, the written elements are applied to the
//             new value, and that is put. A chunk that could not be put stays pending: the next
//             flush tries again.
//
// So in the common orders of writing, each chunk and shard is encoded and put once. Pending memory
// is bounded: beyond the bound, the least recently written chunks are evicted, that is, put with
// the elements that they have. flush() puts all of them.
//
// Chunks that contain only the fill value, bit for bit, are not stored, unless an option says so;
// if one exists, it is erased.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "zarrcore/array/access_pattern.h"
#include "zarrcore/array/array.h"
#include "zarrcore/array/thread_pool.h"
#include "zarrcore/base/api.h"
#include "zarrcore/store/locks.h"

namespace zarrcore {

class PendingChunk;

struct WriteOptions {
  std::size_t threads = 1;
  WorkerScope worker_scope = nullptr;
  // The same for background writer threads, which encode and put after the call has returned: it
  // must own everything that it uses.
  WorkerScope background_scope = nullptr;
};

struct WriterOptions {
  static constexpr std::uint64_t kDefaultMaxBytes = std::uint64_t{256} << 20;

  // The bound of pending bytes. In addition, each thread works on one inner chunk.
  std::uint64_t max_bytes = kDefaultMaxBytes;
  // For processes that share chunks in a store that cannot tell that a value has changed. Each call
  // then locks the chunks that it meets, one for each of its threads at a time, and puts them
  // before it releases the lock: nothing stays pending.
  std::shared_ptr<const FileLocks> locks = nullptr;
  // True if chunks, and inner chunks, that contain only the fill value are stored.
  bool stores_empty_chunks = false;
  // True if background writer threads encode and put complete chunks, if calls allow more than one
  // thread. At most a quarter of `max_bytes`, or a chunk for each thread, waits for that: a
  // write then helps. Not with `locks`.
  bool writes_in_background = false;
};

// The chunks of an array that background writer threads encode and put. May be used by several
// threads at once. The pool must outlive it.
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

// May be used by several threads at once. An array should have one writer: a writer does not see
// the pending elements of another one. Other writers, also of other processes, may write other
// chunks of the array at the same time; and, in a store that knows the versions of its values and
// has locks, other elements of the same chunks. A program that updates elements from their previous
// values needs `locks`.
class ZARRCORE_API ArrayWriter {
 public:
  explicit ArrayWriter(std::shared_ptr<const Array> array, WriterOptions options = {});
  // Pending chunks are lost: call flush() first, which reports errors. Waits for puts that have
  // begun.
  ~ArrayWriter();
  ArrayWriter(const ArrayWriter&) = delete;
  ArrayWriter& operator=(const ArrayWriter&) = delete;

  // Throws Error, which names array and chunk; the selection is then partly written. A chunk that
  // could not be put stays pending, and the next flush tries again; with locks, it is not written.
  // As long as the pending bytes exceed the bound, further writes fail. An error of a background
  // writer thread is thrown once, by the next write, after it is done, or by the next flush.
  void write(const Selection& selection, const Source& source, const WriteOptions& options = {});

  // Like Array::read(), but includes pending elements.
  void read(const Selection& selection, const Destination& destination,
            const ReadOptions& options = {});

  // Puts all pending chunks. It tries all of them, and then throws the first error.
  void flush(const WriteOptions& options = {});

  // Stops the background writer threads: nothing is put before the next write or flush. Pending
  // chunks stay pending.
  void stop();

  const Array& array() const { return *array_; }
  std::uint64_t pending_bytes() const { return pending_bytes_; }

 private:
  struct ChunkWrite;
  struct PendingSlice;
  class HeldChunks;
  using Pending = std::shared_ptr<PendingChunk>;

  const ArrayState& state() const { return array_->state(); }
  // How many requests of the store are worth making at once; more than one if it is slow to answer.
  std::size_t requests() const;
  bool is_slow() const { return requests() > 1; }

  void write_pending(const Selection& selection, const Source& source, const WriteOptions& options);
  bool writes_in_background(std::size_t slices, const WriteOptions& options) const;
  bool are_small(const std::vector<PendingSlice>& slices) const;
  void copy_slices(std::vector<PendingSlice>& slices, const Source& source);
  void write_slice(PendingSlice& part, const Source& source, bool encodes_at_once);
  void write_slices(std::deque<ChunkWrite>& writes, std::vector<PendingSlice>& slices,
                    const Source& source, const WriteOptions& options, FirstError& error);
  void end_write(ChunkWrite& write, bool is_in_background, const WriteOptions& options,
                 FirstError& error);
  void read_chunks(const std::vector<ChunkSlice>& chunks, const Destination& destination,
                   AccessPattern::Request& request, const ReadOptions& options);

  Pending pending(const std::vector<std::uint64_t>& chunk);
  void put(const Pending& chunk, bool is_claimed = false);
  // After PendingChunk::claim_put().
  void put_claimed(const Pending& chunk) { put(chunk, true); }
  void put_in_background(const Pending& chunk, const WriteOptions& options);
  void encode_in_background(const Pending& chunk, std::size_t position,
                            const WriteOptions& options);
  void drop(const Pending& chunk);
  void lengthen_queue();
  bool has_too_many_queued(std::size_t threads);
  void evict(FirstError& error, std::size_t threads);

  std::shared_ptr<const Array> array_;
  WriterOptions options_;
  std::atomic<std::uint64_t> pending_bytes_{0};
  std::atomic<std::uint64_t> put_bytes_{0};  // since free memory was last returned
  mutable std::mutex mutex_;                 // guards order_, chunks_ and pace_
  std::list<Pending> order_;                 // most recently written or read first
  std::map<std::vector<std::uint64_t>, std::list<Pending>::iterator> chunks_;
  Pace pace_;               // of the writes
  std::mutex evict_mutex_;  // held by the thread that evicts
  std::atomic<std::uint64_t> max_queued_;
  std::atomic<bool> was_full_{false};  // the queue, since it was last empty
  WriteQueue queue_;                   // last, as its jobs use the other members
};

// Changes the shape of an array in its chunks; the caller puts the metadata with the new shape.
// Elements that are cut off must not reappear when the array grows again: `array` has the old
// shape. Erases the chunks outside of `new_shape`, and those where the array is going to grow; in
// chunks that are only partly outside, the elements outside get the fill value. Chunks are found by
// listing the store, so their grid may be huge; keys that are not chunks are left alone.
//
// Call it after the metadata with the new shape has been put, and before anything else is written
// to the array. If it fails, no element inside the new shape is lost, and calling it again finishes
// the work. Throws Error, which names array and chunk, also for chunk grids that are not regular.
ZARRCORE_API void resize(const Array& array, const Shape& new_shape,
                         const WriteOptions& options = {});

// Throws the Error of resize() for an array that cannot get this shape in any store.
void check_resize(const Array& array, const Shape& new_shape);

}  // namespace zarrcore
