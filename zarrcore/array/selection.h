// A selection: which elements of an array a caller reads or writes, and the memory they go to or
// come from. doc/architecture.md, "Words", has the terms of the engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "zarrcore/base/api.h"
#include "zarrcore/base/strided.h"
#include "zarrcore/chunk/chunk_grid.h"

namespace zarrcore {

struct Selection {
  Shape start;
  Shape count;
  std::vector<std::int64_t> step = {};  // may be negative; empty means 1 everywhere

  friend bool operator==(const Selection&, const Selection&) = default;
};

// The memory that a selection is read to. Element (i, j, …) of the selection, counted in selected
// elements, is written at data + i * strides[0] + j * strides[1] + …, in bytes.
struct Destination {
  std::byte* data = nullptr;
  Strides strides;
  // Converts from the array's type to the caller's; null when they are the same. Elements of
  // variable length (base/buffer.h) need one, because the memory they point to is released.
  const ElementConverter* converter = nullptr;
};

// The memory that a selection is written from, laid out like a Destination.
struct Source {
  const std::byte* data = nullptr;
  Strides strides;
  // Converts from the caller's type to the array's; null when they are the same. The memory that
  // elements of variable length point to is copied.
  const ElementConverter* converter = nullptr;
};

// Walks `count` > 0 elements from `start` on, `step` > 0 apart, along a dimension, chunk by chunk.
// Chunks without a selected element are skipped. All elements must be inside the dimension.
class AxisWalker {
 public:
  // The part of the selection along this dimension that is in one chunk.
  struct Slice {
    std::uint64_t chunk = 0;
    std::uint64_t start = 0;     // first selected element, counted from the chunk's start
    std::uint64_t count = 0;     // selected elements; at least 1
    std::uint64_t position = 0;  // of the first selected element among all selected
  };

  AxisWalker(const GridDimension& dimension, std::uint64_t start, std::uint64_t count,
             std::uint64_t step)
      : dimension_(dimension), start_(start), count_(count), step_(step) {
    move_to(0);
  }

  const Slice& slice() const { return slice_; }
  // Moves to the next chunk. After the last one it returns false, and the first one is current
  // again.
  bool advance();

 private:
  void move_to(std::uint64_t position);

  GridDimension dimension_;
  std::uint64_t start_;
  std::uint64_t count_;
  std::uint64_t step_;
  Slice slice_;
};

// Steps several walkers like an odometer, the last one fastest. False after the last position.
bool advance(std::span<AxisWalker> walkers);

// Throws Error when `selection` does not have the dimensions of `shape` or exceeds it.
ZARRCORE_API void check_selection(const Selection& selection, const Shape& shape);

// A dense part of an array, in elements.
struct Box {
  Shape start;
  Shape count;

  bool operator==(const Box&) const = default;
  std::uint64_t size() const;  // elements; 2^64 - 1 if they are more
  // Returns true if the two have an element in common.
  bool meets(const Box& other) const;
  // Returns true if this box has all elements of the other.
  bool contains(const Box& other) const;
};

// The part that two boxes share; nullopt if they share none.
std::optional<Box> intersection(const Box& a, const Box& b);

// The smallest box with all elements of a selection that is not empty.
Box box_around(const Selection& selection);

}  // namespace zarrcore
