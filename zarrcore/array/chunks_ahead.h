// The chunks that a walk is expected to need next: waiting for a task to read them, being read, or
// decoded. Each is read once, by a task or by the reader that needs it, and given to one reader.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "zarrcore/array/cache_key.h"
#include "zarrcore/array/cached_chunk.h"
#include "zarrcore/array/walk.h"

namespace zarrcore {

// A part of the memory that all chunks ahead of a context may use.
class MemoryShare {
 public:
  MemoryShare() = default;
  // Takes `bytes`, if the sum of all shares stays within `max_bytes`.
  static std::optional<MemoryShare> take(std::atomic<std::uint64_t>& total, std::uint64_t bytes,
                                         std::uint64_t max_bytes);
  ~MemoryShare() {
    if (total_ != nullptr) *total_ -= bytes_;
  }
  MemoryShare(MemoryShare&& other) noexcept
      : total_(std::exchange(other.total_, nullptr)), bytes_(other.bytes_) {}
  MemoryShare& operator=(MemoryShare&&) = delete;

 private:
  MemoryShare(std::atomic<std::uint64_t>& total, std::uint64_t bytes)
      : total_(&total), bytes_(bytes) {}

  std::atomic<std::uint64_t>* total_ = nullptr;
  std::uint64_t bytes_ = 0;
};

// A chunk, or an inner chunk of a shard. Guarded by the mutex of its ChunksAhead.
class ChunkAhead {
 public:
  ChunkAhead(Box box, MemoryShare memory) : box_(std::move(box)), memory_(std::move(memory)) {}

  // The elements of the array in it.
  const Box& box() const { return box_; }

 private:
  friend class ChunksAhead;
  enum class State : std::uint8_t {
    waiting,
    opening,  // a task has it, but does not know yet where it is stored
    reading,
    decoded,
    failed,  // its reader is to read it itself, and gets the error
    dropped,
  };

  const Box box_;
  const MemoryShare memory_;
  State state_ = State::waiting;
  std::optional<CacheKey> key_;               // from State::reading on
  std::shared_ptr<const CachedChunk> chunk_;  // null if it is missing in the store
};

// Safe to use from several threads at once.
class ChunksAhead {
 public:
  using Chunk = std::shared_ptr<ChunkAhead>;

  // What a reader gets.
  struct Taken {
    std::shared_ptr<const CachedChunk> chunk;
    bool is_missing = false;  // in the store
  };

  // A request begins: its reader reads those chunks itself that wait in `box`. Returns when it is
  // known where those are stored that are being read.
  void begin_request(const Box& box);
  // Drops what the request would have taken, had it still been good.
  void end_request(const Box& box);
  // Gives the reader a chunk, once. While it is being read, calls `help` until that returns false,
  // then waits.
  Taken take(const CacheKey& key, const std::function<bool()>& help);

  // Drops all chunks but those for which `is_wanted` returns true.
  void keep(const std::function<bool(const Box&)>& is_wanted);
  bool has(const Shape& start) const;
  // Adds a chunk, unless there is one with this start.
  void add(Box box, MemoryShare memory);
  std::size_t size() const;
  std::size_t waiting() const;

  // For tasks. The next chunks to read, at most `max_count`, in the order of add().
  std::vector<Chunk> next(std::size_t max_count);
  // Where the chunk is stored; false when it need not be read any more.
  bool is_stored_at(ChunkAhead& chunk, CacheKey key);
  // The chunk has been read; null if it, or the value it is in, is missing.
  void put(ChunkAhead& chunk, CacheKey key, std::shared_ptr<const CachedChunk> value);
  // The chunks could not be read, or need not be, unless they are decoded. They stay without value,
  // so that they are not tried again.
  void give_up(std::span<const Chunk> chunks);

 private:
  using State = ChunkAhead::State;
  using Iterator = std::map<Shape, Chunk>::iterator;

  Iterator drop(Iterator chunk);
  void forget_key(ChunkAhead& chunk);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Shape, Chunk> chunks_;                                  // by their start
  std::deque<Chunk> waiting_;                                      // with dropped ones among them
  std::unordered_multimap<CacheKey, Chunk, CacheKeyHash> stored_;  // reading or decoded
};

}  // namespace zarrcore
