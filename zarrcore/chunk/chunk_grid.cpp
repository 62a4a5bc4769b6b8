#include "zarrcore/chunk/chunk_grid.h"

#include <string>

#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"

namespace zarrcore {

std::uint64_t GridDimension::chunk_count() const {
  return array_length_ == 0 ? 0 : ceil_divide(array_length_, chunk_length_);
}

ChunkGrid ChunkGrid::regular(std::span<const std::uint64_t> array_shape,
                             std::span<const std::uint64_t> chunk_shape) {
  if (array_shape.size() != chunk_shape.size()) {
    throw Error("the chunk shape has " + std::to_string(chunk_shape.size()) +
                " dimensions, the array " + std::to_string(array_shape.size()));
  }
  ChunkGrid grid;
  std::vector<std::uint64_t> counts;
  for (std::size_t i = 0; i < array_shape.size(); ++i) {
    if (chunk_shape[i] == 0 && array_shape[i] != 0) {
      throw Error("the chunk shape is zero in dimension " + std::to_string(i) +
                  ", whose length is " + std::to_string(array_shape[i]));
    }
    grid.dimensions_.emplace_back(array_shape[i], chunk_shape[i]);
    counts.push_back(grid.dimensions_.back().chunk_count());
  }
  const auto total = checked_product(counts);
  if (!total || *total > std::uint64_t{1} << 63) throw Error("the array has more than 2^63 chunks");
  return grid;
}

Shape ChunkGrid::max_chunk_shape() const {
  Shape shape;
  for (const GridDimension& dimension : dimensions_) shape.push_back(dimension.max_chunk_length());
  return shape;
}

Shape ChunkGrid::chunk_shape(std::span<const std::uint64_t> chunk) const {
  Shape shape;
  for (std::size_t i = 0; i < dimensions_.size(); ++i) {
    shape.push_back(dimensions_[i].chunk_length(chunk[i]));
  }
  return shape;
}

}  // namespace zarrcore
