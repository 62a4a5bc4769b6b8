// Chunk grids: how the index space of an array is cut into chunks (v3 core, "chunk grids").
#pragma once

#include <cstdint>
#include <span>

#include "zarrcore/base/strided.h"

namespace zarrcore {

// One dimension of a grid.
class GridDimension {
 public:
  // Chunks of `chunk_length` elements each. The last one reaches past the array's end when that is
  // not a multiple; its stored form is of full length. `chunk_length` may be 0 only if
  // `array_length` is.
  GridDimension(std::uint64_t array_length, std::uint64_t chunk_length)
      : array_length_(array_length), chunk_length_(chunk_length) {}

  std::uint64_t array_length() const { return array_length_; }
  std::uint64_t chunk_count() const;
  // The chunk that holds an element; `index` is below array_length().
  std::uint64_t chunk_of(std::uint64_t index) const { return index / chunk_length_; }
  std::uint64_t chunk_start(std::uint64_t chunk) const { return chunk * chunk_length_; }
  // Elements of a chunk as it is stored.
  std::uint64_t chunk_length(std::uint64_t /*chunk*/) const { return chunk_length_; }
  // The largest chunk_length of all.
  std::uint64_t max_chunk_length() const { return chunk_length_; }

 private:
  std::uint64_t array_length_;
  std::uint64_t chunk_length_;
};

class ChunkGrid {
 public:
  ChunkGrid() = default;
  // A regular grid. Throws Error when the ranks differ, when a chunk has no length in a dimension
  // that has one, or when the number of chunks passes 2^63.
  static ChunkGrid regular(std::span<const std::uint64_t> array_shape,
                           std::span<const std::uint64_t> chunk_shape);

  std::size_t rank() const { return dimensions_.size(); }
  const GridDimension& dimension(std::size_t axis) const { return dimensions_[axis]; }

  // The largest stored shape of a chunk: for a regular grid, that of every chunk.
  Shape max_chunk_shape() const;
  // The stored shape of one chunk.
  Shape chunk_shape(std::span<const std::uint64_t> chunk) const;

 private:
  std::vector<GridDimension> dimensions_;
};

}  // namespace zarrcore
