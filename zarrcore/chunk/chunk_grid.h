// Chunk grids: how the index space of an array is divided into chunks (v3 core, "chunk grids").
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "zarrcore/base/api.h"
#include "zarrcore/base/strided.h"

namespace zarrcore {

// Chunks of one length that follow each other.
struct ChunkRun {
  std::uint64_t length = 0;
  std::uint64_t count = 0;

  bool operator==(const ChunkRun&) const = default;
};

// One dimension of a grid.
class ZARRCORE_API GridDimension {
 public:
  // Chunks of `chunk_length` elements each. If the array length is not a multiple of it, the last
  // chunk extends beyond the array; it is stored with full length. `chunk_length` may be 0 only if
  // `array_length` is.
  GridDimension(std::uint64_t array_length, std::uint64_t chunk_length);
  // Chunks of stated lengths. Throws Error when they do not cover `array_length`, or when a length
  // is 0.
  GridDimension(std::uint64_t array_length, std::span<const ChunkRun> runs);

  std::uint64_t array_length() const { return array_length_; }
  std::uint64_t chunk_count() const { return chunk_count_; }
  // The chunk that contains an element; `index` is below array_length().
  std::uint64_t chunk_of(std::uint64_t index) const;
  std::uint64_t chunk_start(std::uint64_t chunk) const;
  // Elements of a chunk as it is stored.
  std::uint64_t chunk_length(std::uint64_t chunk) const { return run_of_chunk(chunk).length; }
  // Elements of a chunk that are inside the array.
  std::uint64_t chunk_extent(std::uint64_t chunk) const {
    return std::min(chunk_length(chunk), array_length_ - chunk_start(chunk));
  }
  // The largest chunk_length of all.
  std::uint64_t max_chunk_length() const { return max_chunk_length_; }

 private:
  struct Run {
    std::uint64_t length;
    std::uint64_t first_chunk;
    std::uint64_t first_index;
  };
  const Run& run_of_chunk(std::uint64_t chunk) const;

  std::uint64_t array_length_;
  std::uint64_t chunk_count_ = 0;
  std::uint64_t max_chunk_length_ = 0;
  std::vector<Run> runs_;  // at least one
};

class ZARRCORE_API ChunkGrid {
 public:
  ChunkGrid() = default;
  // A regular grid. Throws Error when the ranks differ, when a chunk length is 0 but not the
  // array's, or when there are more than 2^63 chunks.
  static ChunkGrid regular(std::span<const std::uint64_t> array_shape,
                           std::span<const std::uint64_t> chunk_shape);
  // A rectilinear grid (zarr-extensions, "rectilinear"): the chunk lengths along each dimension.
  // Throws Error when they do not fit the array.
  static ChunkGrid rectilinear(std::span<const std::uint64_t> array_shape,
                               std::span<const std::vector<ChunkRun>> chunk_runs);

  std::size_t rank() const { return dimensions_.size(); }
  // `axis` is below rank().
  const GridDimension& dimension(std::size_t axis) const { return dimensions_[axis]; }

  // Returns true if all chunks are stored in one shape.
  bool is_regular() const { return is_regular_; }
  // The largest stored lengths: for a regular grid, the shape of every chunk.
  Shape max_chunk_shape() const;
  // The stored shape of one chunk.
  Shape chunk_shape(std::span<const std::uint64_t> chunk) const;

 private:
  void check_count() const;

  std::vector<GridDimension> dimensions_;
  bool is_regular_ = true;
};

}  // namespace zarrcore
