// Whether chunks of which requests use parts are used again later. Random reads of large arrays
// rarely come back to a chunk. To keep it then costs more than it saves: what is kept occupies
// memory that the system has to provide page by page, while freed memory is used again at once.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace zarrcore {

// Of one array. Safe to use from several threads at once.
class ChunkReuse {
 public:
  // Of the chunks of which a request used parts: whether an earlier request had used them, as far
  // as that is remembered.
  struct Counts {
    std::uint64_t used_before = 0;
    std::uint64_t is_new = 0;
  };

  // A request is done. Each request counts the same, so that one of many chunks says no more about
  // the next ones than one of a few.
  void observe(const Counts& counts);
  // Whether the chunks of the next request are worth keeping.
  bool is_likely() const { return rate_ >= kWorthKeeping; }

  // A chunk is used and not kept; `hash` is that of its cache key. Returns whether it is one of the
  // last `capacity` ones, of at most kMaxRemembered, for which this was called.
  bool remember(std::size_t hash, std::uint64_t capacity);

  static constexpr std::uint64_t kMaxRemembered = 1024;

 private:
  static constexpr float kWorthKeeping = 0.1F;

  std::mutex mutex_;
  std::atomic<float> rate_ = 0.5;        // changed with the lock
  std::vector<std::size_t> remembered_;  // hashes, a ring once it is full
  std::size_t next_ = 0;
};

}  // namespace zarrcore
