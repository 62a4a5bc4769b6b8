// Recognizes requests that walk through an array: row by row, tile by tile, slice by slice, in
// either direction, overlapping or not. It knows neither chunks nor stores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "zarrcore/array/selection.h"

namespace zarrcore {

// The walk of the latest requests, as nested loops: the innermost moves the box along one dimension
// by a constant step; at the end of a line, that dimension returns to its start and the next loop
// makes a step. The boxes at the ends of the array may be smaller, and the boxes of a warp may
// differ a little.
class Walk {
 public:
  // `shape` is the array's.
  explicit Walk(Shape shape) : shape_(std::move(shape)) {}

  // The walk that continues after `box` through all of `within`, which contains it, in C order.
  static Walk through(const Box& box, const Box& within);

  // When it throws, it must be forgotten.
  void observe(const Box& box);
  // Forgets all observed requests.
  void forget() noexcept;

  // Returns true if this was the last request.
  bool is_at(const Box& box) const { return last_ == box; }
  // How many of the latest requests were steps of the walk; 0 if the last one was not.
  std::size_t steps() const { return steps_; }
  // Returns true if the walk so far began at the start of the array along its dimension, and each
  // box has begun where the previous one ended.
  bool is_scan() const { return is_scan_; }

  // The number of requests of the walk, at least 1, that begin within `unit` elements along each
  // dimension, for example within a chunk.
  std::uint64_t requests_within(const Shape& unit) const;

  // Calls `body` with the boxes of the next requests, in order, until it returns false or the walk
  // ends. Steps that are shorter than `unit` along their dimension are combined. `guesses`: after
  // the first line, the walk is expected to continue with the next line, before it has.
  void predict(const Shape& unit, bool guesses, const std::function<bool(const Box&)>& body) const;

 private:
  struct Loop {
    std::size_t axis;
    std::int64_t step;
    std::uint64_t first;
    std::optional<std::uint64_t> last = {};  // known after the first line
  };

  bool follows(const Box& box);
  bool has_similar_count(const Box& box) const;
  bool is_near(std::size_t axis, std::uint64_t expected, std::uint64_t actual) const;
  // Returns true if, along all dimensions but `axis`, `box` begins about where the last box began,
  // or where their loop begins for the first `loops` loops.
  bool is_step(const Box& box, std::size_t loops, std::size_t axis) const;
  std::uint64_t steps_left(const Loop& loop, const Shape& start) const;
  Box clipped(const Shape& start) const;

  Shape shape_;
  std::optional<Box> last_;
  Shape count_;              // of a box that the end of the array does not cut off
  std::vector<Loop> loops_;  // the innermost first
  std::size_t steps_ = 0;
  bool is_scan_ = false;
};

}  // namespace zarrcore
