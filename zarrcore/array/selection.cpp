#include "zarrcore/array/selection.h"

#include <algorithm>
#include <string>

#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/strided.h"

namespace zarrcore {

void AxisWalker::move_to(std::uint64_t position) {
  const std::uint64_t index = start_ + position * step_;
  const std::uint64_t chunk = dimension_.chunk_of(index);
  const std::uint64_t offset = index - dimension_.chunk_start(chunk);
  const std::uint64_t in_chunk = (dimension_.chunk_length(chunk) - 1 - offset) / step_ + 1;
  slice_ = {chunk, offset, std::min(in_chunk, count_ - position), position};
}

bool AxisWalker::advance() {
  const std::uint64_t next = slice_.position + slice_.count;
  move_to(next < count_ ? next : 0);
  return next < count_;
}

bool advance(std::span<AxisWalker> walkers) {
  for (std::size_t i = walkers.size(); i-- > 0;) {
    if (walkers[i].advance()) return true;
  }
  return false;
}

void check_selection(const Selection& selection, const Shape& shape) {
  const std::size_t rank = shape.size();
  if (selection.start.size() != rank || selection.count.size() != rank ||
      (!selection.step.empty() && selection.step.size() != rank)) {
    throw Error("the selection does not have the " + std::to_string(rank) +
                " dimensions of the array");
  }
  for (std::size_t i = 0; i < rank; ++i) {
    const std::uint64_t start = selection.start[i];
    const std::uint64_t count = selection.count[i];
    if (count == 0) continue;
    const std::int64_t step = selection.step.empty() ? 1 : selection.step[i];
    bool inside = start < shape[i];
    if (inside && count > 1) {
      if (step == 0) throw Error("the step of dimension " + std::to_string(i) + " is zero");
      const std::uint64_t room = step > 0 ? shape[i] - 1 - start : start;
      const std::uint64_t stride =
          step > 0 ? static_cast<std::uint64_t>(step) : 0 - static_cast<std::uint64_t>(step);
      inside = count - 1 <= room / stride;
    }
    if (!inside) {
      throw Error("the selection (start " + std::to_string(start) + ", count " +
                  std::to_string(count) + ", step " + std::to_string(step) +
                  ") reaches outside dimension " + std::to_string(i) + " of length " +
                  std::to_string(shape[i]));
    }
  }
}

std::uint64_t Box::size() const {
  return checked_product(count).value_or(UINT64_MAX);
}

bool Box::meets(const Box& other) const {
  for (std::size_t i = 0; i < start.size(); ++i) {
    if (start[i] >= other.start[i] + other.count[i]) return false;
    if (other.start[i] >= start[i] + count[i]) return false;
  }
  return true;
}

bool Box::contains(const Box& other) const {
  for (std::size_t i = 0; i < start.size(); ++i) {
    if (other.start[i] < start[i] || other.start[i] + other.count[i] > start[i] + count[i]) {
      return false;
    }
  }
  return true;
}

std::optional<Box> intersection(const Box& a, const Box& b) {
  Box common;
  for (std::size_t i = 0; i < a.start.size(); ++i) {
    const std::uint64_t start = std::max(a.start[i], b.start[i]);
    const std::uint64_t end = std::min(a.start[i] + a.count[i], b.start[i] + b.count[i]);
    if (start >= end) return std::nullopt;
    common.start.push_back(start);
    common.count.push_back(end - start);
  }
  return common;
}

Box box_around(const Selection& selection) {
  Box box{selection.start, selection.count};
  for (std::size_t i = 0; i < box.start.size(); ++i) {
    if (selection.step.empty() || box.count[i] == 1) continue;
    const std::uint64_t reach = (box.count[i] - 1) * absolute(selection.step[i]);
    if (selection.step[i] < 0) box.start[i] -= reach;
    box.count[i] = reach + 1;
  }
  return box;
}

std::uint64_t element_count(std::span<const AxisSlice> axes) {
  std::uint64_t count = 1;
  for (const AxisSlice& axis : axes) count *= axis.count;
  return count;
}

bool is_whole(std::span<const AxisSlice> axes) {
  return std::all_of(axes.begin(), axes.end(), [](const AxisSlice& axis) {
    return axis.start == 0 && axis.step == 1 && axis.count == axis.extent;
  });
}

std::vector<AxisSlice> permute_axes(const std::vector<AxisSlice>& axes,
                                    const std::vector<std::size_t>& order) {
  std::vector<AxisSlice> permuted;
  permuted.reserve(axes.size());
  for (const std::size_t axis : order) permuted.push_back(axes[axis]);
  return permuted;
}

SliceLayout layout_of(std::span<const AxisSlice> axes, std::span<const std::uint64_t> shape,
                      std::uint64_t item_size) {
  SliceLayout layout;
  set_layout(layout, axes, shape, item_size);
  return layout;
}

void set_layout(SliceLayout& layout, std::span<const AxisSlice> axes,
                std::span<const std::uint64_t> shape, std::uint64_t item_size) {
  layout.offset = 0;
  layout.counts.resize(axes.size());
  layout.in_chunk.resize(axes.size());
  layout.in_memory.resize(axes.size());
  std::uint64_t stride = item_size;
  for (std::size_t i = axes.size(); i-- > 0;) {
    const AxisSlice& axis = axes[i];
    const auto in_chunk = static_cast<std::ptrdiff_t>(stride);
    layout.offset += static_cast<std::ptrdiff_t>(axis.start) * in_chunk;
    // The step along an axis of one element does not matter and may be huge.
    layout.in_chunk[i] = axis.count > 1 ? in_chunk * static_cast<std::ptrdiff_t>(axis.step) : 0;
    layout.counts[i] = axis.count;
    layout.in_memory[i] = axis.stride;
    stride *= shape[i];
  }
}

std::uint64_t end_of(std::span<const AxisSlice> axes, std::span<const std::uint64_t> shape,
                     std::uint64_t item_size) {
  std::uint64_t end = item_size;
  std::uint64_t stride = item_size;
  for (std::size_t i = axes.size(); i-- > 0;) {
    const AxisSlice& axis = axes[i];
    end += (axis.start + (axis.count - 1) * axis.step) * stride;
    stride *= shape[i];
  }
  return end;
}

void for_each_run(std::span<const AxisSlice> axes, std::span<const std::uint64_t> shape,
                  std::uint64_t item_size, std::uint64_t max_gap,
                  const std::function<void(std::uint64_t, std::uint64_t)>& body) {
  const Strides strides = c_strides(shape, item_size);
  const auto distance = [&](std::size_t i, std::uint64_t elements) {
    return elements * static_cast<std::uint64_t>(strides[i]);
  };
  std::uint64_t offset = 0;
  for (std::size_t i = 0; i < axes.size(); ++i) offset += distance(i, axes[i].start);
  // The innermost dimensions make a run.
  std::uint64_t length = item_size;
  std::size_t outer = axes.size();
  for (; outer > 0; --outer) {
    const AxisSlice& axis = axes[outer - 1];
    if (axis.count == 1) continue;
    const std::uint64_t period = distance(outer - 1, axis.step);
    if (outer < axes.size() && period - length > max_gap) break;
    length += (axis.count - 1) * period;
  }
  std::vector<std::uint64_t> position(outer, 0);
  do {
    body(offset, length);
  } while (advance_position(
      position, [&](std::size_t i) { return axes[i].count; },
      [&](std::size_t i, std::ptrdiff_t steps) {
        offset += distance(i, axes[i].step) * static_cast<std::uint64_t>(steps);
      }));
}

void for_each_chunk(const ChunkGrid& grid, const Selection& selection, const Strides& strides,
                    const std::function<void(const ChunkSlice&)>& body) {
  if (std::find(selection.count.begin(), selection.count.end(), 0) != selection.count.end()) {
    return;
  }
  // A negative step walks the array forwards and the memory backwards.
  const std::size_t rank = grid.rank();
  std::ptrdiff_t first = 0;
  Strides along_memory = strides;
  std::vector<std::uint64_t> steps(rank, 1);
  std::vector<AxisWalker> walkers;
  walkers.reserve(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    const std::uint64_t count = selection.count[i];
    const std::int64_t step = selection.step.empty() || count == 1 ? 1 : selection.step[i];
    std::uint64_t start = selection.start[i];
    steps[i] = static_cast<std::uint64_t>(step);
    if (step < 0) {
      steps[i] = 0 - steps[i];
      start -= (count - 1) * steps[i];
      first += static_cast<std::ptrdiff_t>(count - 1) * strides[i];
      along_memory[i] = -strides[i];
    }
    walkers.emplace_back(grid.dimension(i), start, count, steps[i]);
  }
  ChunkSlice slice;
  slice.chunk.resize(rank);
  slice.axes.resize(rank);
  do {
    slice.offset = first;
    for (std::size_t i = 0; i < rank; ++i) {
      const AxisWalker::Slice& along = walkers[i].slice();
      const std::uint64_t extent = grid.dimension(i).chunk_extent(along.chunk);
      slice.chunk[i] = along.chunk;
      slice.axes[i] = {along.start, along.count, steps[i], extent, along_memory[i]};
      slice.offset += static_cast<std::ptrdiff_t>(along.position) * along_memory[i];
    }
    body(slice);
  } while (advance(walkers));
}

void for_each_inner_chunk(const ShardingCodec& sharding, std::span<const AxisSlice> axes,
                          const std::function<void(StoredSlice)>& body) {
  const Shape& inner_shape = sharding.inner_shape();
  const Shape& grid = sharding.inner_grid();
  const std::size_t rank = grid.size();
  std::vector<AxisWalker> walkers;
  walkers.reserve(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    walkers.emplace_back(GridDimension(grid[i] * inner_shape[i], inner_shape[i]), axes[i].start,
                         axes[i].count, axes[i].step);
  }
  std::vector<AxisSlice> slices(rank);
  do {
    StoredSlice inner;
    for (std::size_t i = 0; i < rank; ++i) {
      const AxisWalker::Slice& along = walkers[i].slice();
      slices[i] = {along.start, along.count, axes[i].step,
                   std::min(inner_shape[i], axes[i].extent - along.chunk * inner_shape[i]),
                   axes[i].stride};
      inner.offset += static_cast<std::ptrdiff_t>(along.position) * axes[i].stride;
      inner.position = static_cast<std::size_t>(inner.position * grid[i] + along.chunk);
    }
    inner.axes = permute_axes(slices, sharding.inner_chain().axis_order());
    body(std::move(inner));
  } while (advance(walkers));
}

std::vector<AxisSlice> axes_in_shard(const ShardingCodec& sharding, const StoredSlice& inner,
                                     std::vector<AxisSlice> axes) {
  const std::vector<std::size_t>& order = sharding.inner_chain().axis_order();
  for (std::size_t i = 0; i < order.size(); ++i) {
    axes[order[i]].start = inner.axes[i].start;
    axes[order[i]].count = inner.axes[i].count;
  }
  std::size_t position = inner.position;
  for (std::size_t i = axes.size(); i-- > 0;) {
    const std::uint64_t length = sharding.inner_grid()[i];
    axes[i].start += position % length * sharding.inner_shape()[i];
    position = static_cast<std::size_t>(position / length);
  }
  return axes;
}

}  // namespace zarrcore
