// Which elements of an inner chunk have been written: a bit for each.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "zarrcore/array/chunk_walk.h"

namespace zarrcore {

class WrittenElements {
 public:
  // Adds a slice of a dense chunk of `shape`, the same each time.
  void add(std::span<const AxisSlice> axes, std::span<const std::uint64_t> shape);

  std::uint64_t count() const { return count_; }
  std::uint64_t byte_count() const { return words_.capacity() * sizeof(Word); }

  // Calls `body` with the start and the length of each run of elements that have been written, in C
  // order.
  void for_each_run(const std::function<void(std::uint64_t, std::uint64_t)>& body) const;

 private:
  using Word = std::uint64_t;
  static constexpr std::uint64_t kWordBits = 64;

  void add_run(std::uint64_t start, std::uint64_t length);
  // The first element from `start` on that has been written, or has not.
  std::uint64_t find(std::uint64_t start, bool is_written) const;

  std::vector<Word> words_;
  std::uint64_t size_ = 0;  // elements of the chunk
  std::uint64_t count_ = 0;
};

}  // namespace zarrcore
