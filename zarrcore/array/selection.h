// What part of an array is meant: along each dimension, `count` elements from `start` on, `step`
// apart.
#pragma once

#include <cstdint>
#include <vector>

#include "zarrcore/base/strided.h"
#include "zarrcore/chunk/chunk_grid.h"

namespace zarrcore {

struct Selection {
  Shape start;
  Shape count;
  std::vector<std::int64_t> step;  // may be negative; empty means 1 everywhere
};

// The part of a selection along one dimension that falls into one chunk.
struct AxisPart {
  std::uint64_t chunk = 0;
  std::uint64_t start = 0;     // first selected element, counted from the chunk's start
  std::uint64_t count = 0;     // selected elements; at least 1
  std::uint64_t position = 0;  // of the first selected element among all selected
};

// Cuts `count` elements from `start` on, `step` > 0 apart, along the chunks of a dimension. Chunks
// without a selected element are left out. All elements must be inside the dimension.
std::vector<AxisPart> split_axis(const GridDimension& dimension, std::uint64_t start,
                                 std::uint64_t count, std::uint64_t step);

// Throws Error when `selection` does not fit an array of `shape`, or reaches outside of it.
void check_selection(const Selection& selection, const Shape& shape);

}  // namespace zarrcore
