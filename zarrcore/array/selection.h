// A selection: which elements of an array a caller reads or writes, and the memory they go to or
// come from; cutting it into chunk slices along the chunk grid of its array, and a chunk slice into
// stored slices along the inner chunks of a shard. doc/architecture.md, "Words", has these terms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "zarrcore/base/api.h"
#include "zarrcore/base/strided.h"
#include "zarrcore/chunk/chunk_grid.h"
#include "zarrcore/codec/sharding.h"

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

// A slice of one chunk along one dimension.
struct AxisSlice {
  std::uint64_t start = 0;    // in the chunk
  std::uint64_t count = 0;    // elements
  std::uint64_t step = 1;     // > 0
  std::uint64_t extent = 0;   // elements of the chunk that are inside the array
  std::ptrdiff_t stride = 0;  // in the caller's memory, in bytes
};

// The number of elements of a slice.
std::uint64_t element_count(std::span<const AxisSlice> axes);
// Returns true if a slice contains all elements of the chunk that are inside the array.
bool is_whole(std::span<const AxisSlice> axes);

// The slices of a chunk reordered for a chain's stored order.
std::vector<AxisSlice> permute_axes(const std::vector<AxisSlice>& axes,
                                    const std::vector<std::size_t>& order);

// Where the elements of a slice are, in the chunk and in the caller's memory.
struct SliceLayout {
  Shape counts;
  std::ptrdiff_t offset = 0;  // of the first element in the chunk, in bytes
  Strides in_chunk;
  Strides in_memory;
};

// The layout in a dense chunk of `shape`. The second one replaces a layout and uses its memory.
SliceLayout layout_of(std::span<const AxisSlice> axes, std::span<const std::uint64_t> shape,
                      std::uint64_t item_size);
void set_layout(SliceLayout& layout, std::span<const AxisSlice> axes,
                std::span<const std::uint64_t> shape, std::uint64_t item_size);

// Where the last selected element of a dense chunk of `shape` ends, in bytes.
std::uint64_t end_of(std::span<const AxisSlice> axes, std::span<const std::uint64_t> shape,
                     std::uint64_t item_size);

// Calls `body` with offset and length, in bytes, of each run of consecutive bytes that contains
// elements of a slice of a dense chunk, in ascending order. Neighbours along a dimension share a
// run when at most `max_gap` bytes are between them; along the innermost dimension, they always do.
void for_each_run(std::span<const AxisSlice> axes, std::span<const std::uint64_t> shape,
                  std::uint64_t item_size, std::uint64_t max_gap,
                  const std::function<void(std::uint64_t, std::uint64_t)>& body);

// The part of a selection in one chunk.
struct ChunkSlice {
  std::vector<std::uint64_t> chunk;  // its position in the grid
  std::vector<AxisSlice> axes;       // in the array's order
  std::ptrdiff_t offset = 0;         // of the first element in the caller's memory, in bytes
};

// Calls `body` with the slice of every chunk that a selection meets. The selection has been checked
// (check_selection). `strides` belong to the caller's memory: one per dimension, from one selected
// element to the next. All calls get the same object, with new contents.
void for_each_chunk(const ChunkGrid& grid, const Selection& selection, const Strides& strides,
                    const std::function<void(const ChunkSlice&)>& body);

// The part of a chunk slice in one inner chunk of a shard.
struct StoredSlice {
  std::size_t position = 0;     // in the shard's index
  std::vector<AxisSlice> axes;  // in the stored order of the inner chain
  std::ptrdiff_t offset = 0;    // like a ChunkSlice's, from the first element of the shard's slice
};

// Calls `body` for every inner chunk that a slice of a shard meets. `axes` is the slice in the
// stored order of the shard's chain.
void for_each_inner_chunk(const ShardingCodec& sharding, std::span<const AxisSlice> axes,
                          const std::function<void(StoredSlice)>& body);

// The same slice of an inner chunk as a slice of the shard. `axes` is the slice of the shard that
// it was cut from.
std::vector<AxisSlice> axes_in_shard(const ShardingCodec& sharding, const StoredSlice& inner,
                                     std::vector<AxisSlice> axes);

}  // namespace zarrcore
