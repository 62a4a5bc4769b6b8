// What part of an array is meant: along each dimension, `count` elements from `start` on, `step`
// apart.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "zarrcore/base/strided.h"
#include "zarrcore/chunk/chunk_grid.h"

namespace zarrcore {

struct Selection {
  Shape start;
  Shape count;
  std::vector<std::int64_t> step = {};  // may be negative; empty means 1 everywhere
};

// The part of a selection along one dimension that falls into one chunk.
struct AxisPart {
  std::uint64_t chunk = 0;
  std::uint64_t start = 0;     // first selected element, counted from the chunk's start
  std::uint64_t count = 0;     // selected elements; at least 1
  std::uint64_t position = 0;  // of the first selected element among all selected
};

// Walks `count` > 0 elements from `start` on, `step` > 0 apart, along a dimension, chunk by chunk.
// Chunks without a selected element are passed over. All elements must be inside the dimension.
class AxisWalker {
 public:
  AxisWalker(const GridDimension& dimension, std::uint64_t start, std::uint64_t count,
             std::uint64_t step)
      : dimension_(dimension), start_(start), count_(count), step_(step) {
    rewind();
  }

  const AxisPart& part() const { return part_; }
  // False when there is no further part; then the first one is current again.
  bool advance();

 private:
  void rewind() { go_to(0); }
  void go_to(std::uint64_t position);

  GridDimension dimension_;
  std::uint64_t start_;
  std::uint64_t count_;
  std::uint64_t step_;
  AxisPart part_;
};

// Steps several walkers like an odometer, the last one fastest. False after the last position.
bool advance(std::span<AxisWalker> walkers);

// Throws Error when `selection` does not fit an array of `shape`, or reaches outside of it.
void check_selection(const Selection& selection, const Shape& shape);

}  // namespace zarrcore
