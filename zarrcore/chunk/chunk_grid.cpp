#include "zarrcore/chunk/chunk_grid.h"

#include <algorithm>
#include <string>

#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"

namespace zarrcore {

GridDimension::GridDimension(std::uint64_t array_length, std::uint64_t chunk_length)
    : array_length_(array_length),
      chunk_count_(array_length == 0 ? 0 : ceil_divide(array_length, chunk_length)),
      max_chunk_length_(chunk_length),
      runs_{{chunk_length, 0, 0}} {}

GridDimension::GridDimension(std::uint64_t array_length, std::span<const ChunkRun> runs)
    : array_length_(array_length) {
  std::uint64_t covered = 0;
  for (const ChunkRun& run : runs) {
    if (run.length == 0) throw Error("a chunk length is zero");
    if (run.count == 0) continue;
    runs_.push_back({run.length, chunk_count_, covered});
    max_chunk_length_ = std::max(max_chunk_length_, run.length);
    const auto length = checked_multiply(run.length, run.count);
    const auto end = length ? checked_add(covered, *length) : std::nullopt;
    const auto chunks = checked_add(chunk_count_, run.count);
    if (!end || !chunks) throw Error("the chunk lengths are larger than any array");
    covered = *end;
    chunk_count_ = *chunks;
  }
  if (covered < array_length || runs_.empty()) {
    throw Error("the chunk lengths make " + std::to_string(covered) + " where the array has " +
                std::to_string(array_length));
  }
  // The lengths may extend past the array.
  chunk_count_ = array_length == 0 ? 0 : chunk_of(array_length - 1) + 1;
}

std::uint64_t GridDimension::chunk_of(std::uint64_t index) const {
  const auto next = std::upper_bound(
      runs_.begin() + 1, runs_.end(), index,
      [](std::uint64_t wanted, const Run& run) { return wanted < run.first_index; });
  const Run& run = *(next - 1);
  return run.first_chunk + (index - run.first_index) / run.length;
}

const GridDimension::Run& GridDimension::run_of_chunk(std::uint64_t chunk) const {
  const auto next = std::upper_bound(
      runs_.begin() + 1, runs_.end(), chunk,
      [](std::uint64_t wanted, const Run& run) { return wanted < run.first_chunk; });
  return *(next - 1);
}

std::uint64_t GridDimension::chunk_start(std::uint64_t chunk) const {
  const Run& run = run_of_chunk(chunk);
  return run.first_index + (chunk - run.first_chunk) * run.length;
}

void ChunkGrid::check_count() const {
  std::vector<std::uint64_t> counts;
  counts.reserve(dimensions_.size());
  for (const GridDimension& dimension : dimensions_) counts.push_back(dimension.chunk_count());
  const auto total = checked_product(counts);
  if (!total || *total > std::uint64_t{1} << 63) throw Error("the array has more than 2^63 chunks");
}

ChunkGrid ChunkGrid::regular(std::span<const std::uint64_t> array_shape,
                             std::span<const std::uint64_t> chunk_shape) {
  if (array_shape.size() != chunk_shape.size()) {
    throw Error("the chunk shape has " + std::to_string(chunk_shape.size()) +
                " dimensions, the array " + std::to_string(array_shape.size()));
  }
  ChunkGrid grid;
  for (std::size_t i = 0; i < array_shape.size(); ++i) {
    if (chunk_shape[i] == 0 && array_shape[i] != 0) {
      throw Error("the chunk shape is zero in dimension " + std::to_string(i) +
                  ", whose length is " + std::to_string(array_shape[i]));
    }
    grid.dimensions_.emplace_back(array_shape[i], chunk_shape[i]);
  }
  grid.check_count();
  return grid;
}

ChunkGrid ChunkGrid::rectilinear(std::span<const std::uint64_t> array_shape,
                                 std::span<const std::vector<ChunkRun>> chunk_runs) {
  if (array_shape.size() != chunk_runs.size()) {
    throw Error("the chunk grid has " + std::to_string(chunk_runs.size()) +
                " dimensions, the array " + std::to_string(array_shape.size()));
  }
  ChunkGrid grid;
  grid.is_regular_ = false;
  for (std::size_t i = 0; i < array_shape.size(); ++i) {
    with_context({"dimension ", i, " of the chunk grid"},
                 [&] { grid.dimensions_.emplace_back(array_shape[i], chunk_runs[i]); });
  }
  grid.check_count();
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
