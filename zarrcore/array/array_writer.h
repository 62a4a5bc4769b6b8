// Writing regions of an array, and reading what is being written. A writer gathers what it is
// given: a chunk that is written as a whole is encoded at once and put; parts of chunks, and the
// inner chunks of shards, wait in memory for the rest, so that in the common orders of writing each
// chunk and shard is encoded and put once. What waits is bounded: beyond the bound, that which has
// not been touched for longest is put.
//
// Chunks that hold nothing but the fill value, bit for bit, are not stored; one that was is erased.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "zarrcore/array/array.h"
#include "zarrcore/store/file_locks.h"

namespace zarrcore {

class PendingChunk;

// Where the elements of a selection come from. Element (i, j, …) of the selection, counted in
// selected elements, is read at data + i * strides[0] + j * strides[1] + …, in bytes.
struct Source {
  const std::byte* data = nullptr;
  Strides strides;
  // Makes the array's type of the caller's; null when they are the same. What elements of variable
  // length point to is copied.
  const ElementConverter* converter = nullptr;
};

struct WriteOptions {
  std::size_t threads = 1;
  WorkerScope worker_scope = nullptr;
};

struct WriterOptions {
  static constexpr std::uint64_t kDefaultMaxBytes = std::uint64_t{256} << 20;

  // Bounds what waits, beside the units that are being worked on: one for each thread.
  std::uint64_t max_bytes = kDefaultMaxBytes;
  // For processes that share chunks in a store that cannot tell that one has changed. Each call
  // then locks the chunks that it meets, one by one, or as many as it has threads. What is written
  // is put before the lock is given back: nothing waits for later calls.
  std::shared_ptr<const FileLocks> locks = nullptr;
};

// May be used by several threads at once. There should be one for each array: two do not know of
// what waits in the other. Other writers, of other processes as well, may write other chunks of the
// array at the same time; and, in a store that knows the versions of its values and has locks,
// other elements of the same chunks. A program that computes what it writes from what it has read
// of the same elements needs `locks`.
class ArrayWriter {
 public:
  explicit ArrayWriter(std::shared_ptr<const Array> array, WriterOptions options = {});
  // What still waits is lost: whoever wants to know of errors calls flush() before.
  ~ArrayWriter();
  ArrayWriter(const ArrayWriter&) = delete;
  ArrayWriter& operator=(const ArrayWriter&) = delete;

  // Throws Error, which names array and chunk; the selection is then partly written. When it comes
  // from putting what has waited, that still waits, and the next flush tries again; with locks, it
  // is not written. As long as more waits than the bound allows, nothing more is taken.
  void write(const Selection& selection, const Source& source, const WriteOptions& options = {});

  // Array::read(), which sees all that write() has been given before.
  void read(const Selection& selection, const Destination& destination,
            const ReadOptions& options = {});

  // Puts all that waits; of several errors, the first is thrown, after all has been tried.
  void flush(const WriteOptions& options = {});

  // Bytes that wait.
  std::uint64_t waiting_bytes() const { return waiting_bytes_; }

 private:
  struct Part;
  class FirstError;
  class HeldChunks;
  using Pending = std::shared_ptr<PendingChunk>;

  void write_parts(std::vector<Part>& parts, const Source& source, const WriteOptions& options,
                   FirstError& error);
  void write_locked(const std::vector<ChunkSlice>& chunks, const Source& source,
                    const WriteOptions& options);
  void read_chunks(const std::vector<ChunkSlice>& chunks, const Destination& destination,
                   const ReadOptions& options);
  void read_locked(const std::vector<ChunkSlice>& chunks, const Destination& destination,
                   const ReadOptions& options);
  FileLocks::Held lock(const std::string& key) const;

  Pending pending(const std::vector<std::uint64_t>& chunk);
  void put(const Pending& chunk);
  void drop(const Pending& chunk);
  void make_room(FirstError& error);

  std::shared_ptr<const Array> array_;
  WriterOptions options_;
  std::atomic<std::uint64_t> waiting_bytes_{0};
  std::atomic<std::uint64_t> put_bytes_{0};  // since memory was returned last
  mutable std::mutex mutex_;
  std::list<Pending> order_;  // the most recently touched first
  std::map<std::vector<std::uint64_t>, std::list<Pending>::iterator> chunks_;
  std::mutex room_mutex_;  // of the one thread that makes room
};

}  // namespace zarrcore
