// Writing regions of an array. A writer gathers what it is given: a chunk that is written as a
// whole is encoded at once and put; parts of chunks, and the inner chunks of shards, wait in memory
// for the rest, so that in the common orders of writing each chunk and shard is encoded and put
// once. What waits is bounded: beyond the bound, that which has not been touched for longest is
// put.
//
// Chunks that hold nothing but the fill value, bit for bit, are not stored; one that was is erased.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "zarrcore/array/array.h"

namespace zarrcore {

struct AxisSlice;

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

// May be used by several threads at once. There should be one for each array: two do not know of
// what waits in the other.
class ArrayWriter {
 public:
  static constexpr std::uint64_t kDefaultMaxBytes = std::uint64_t{256} << 20;

  // `max_bytes` bounds what waits, beside the chunks that are being worked on.
  explicit ArrayWriter(std::shared_ptr<const Array> array,
                       std::uint64_t max_bytes = kDefaultMaxBytes);
  // What still waits is lost: whoever wants to know of errors calls flush() before.
  ~ArrayWriter();
  ArrayWriter(const ArrayWriter&) = delete;
  ArrayWriter& operator=(const ArrayWriter&) = delete;

  // Throws Error, which names array and chunk; the selection is then partly written. When it comes
  // from putting what has waited, that still waits: the next flush tries again.
  void write(const Selection& selection, const Source& source, const WriteOptions& options = {});

  // Puts all that waits; of several errors, the first is thrown, after all has been tried.
  void flush(const WriteOptions& options = {});
  // Puts what waits of the chunks that a selection meets, so that it can be read.
  void flush(const Selection& selection, const WriteOptions& options = {});

  // Bytes that wait.
  std::uint64_t waiting_bytes() const;

 private:
  class PendingChunk;
  struct Part;
  using ChunkIndex = std::vector<std::uint64_t>;
  using Pending = std::shared_ptr<PendingChunk>;

  void add_units(Part chunk, const std::vector<AxisSlice>& slices, std::vector<Part>& parts) const;
  bool is_met(const ChunkIndex& chunk, const Selection& selection) const;
  Pending pending(const ChunkIndex& chunk);
  void write_parts(std::vector<Part>& parts, const Source& source, const WriteOptions& options);
  void put(std::span<const Pending> chunks, const WriteOptions& options);
  void shrink(const WriteOptions& options);

  std::shared_ptr<const Array> array_;
  std::uint64_t max_bytes_;
  mutable std::mutex mutex_;
  std::list<Pending> order_;  // the most recently touched first
  std::map<ChunkIndex, std::list<Pending>::iterator> chunks_;
};

}  // namespace zarrcore
