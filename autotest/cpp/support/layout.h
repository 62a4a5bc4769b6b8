// Layouts of boxes in memory, and walking over boxes one element at a time: the obvious way, which
// is what the core's ways are compared with.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <span>
#include <utility>

#include "autotest/cpp/support/bytes.h"
#include "zarrcore/base/strided.h"

namespace zarrcore::test {

// Calls `body` with every index of a box, in C order.
template <typename Body>
void for_each_index(const Shape& shape, const Body& body) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return;
  Shape index(shape.size(), 0);
  while (true) {
    body(std::as_const(index));
    std::size_t i = shape.size();
    while (i > 0 && ++index[i - 1] == shape[i - 1]) index[--i] = 0;
    if (i == 0) return;
  }
}

inline std::uint64_t element_count(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>());
}

inline std::ptrdiff_t offset_of(std::span<const std::uint64_t> index,
                                std::span<const std::ptrdiff_t> strides) {
  std::ptrdiff_t offset = 0;
  for (std::size_t i = 0; i < index.size(); ++i) {
    offset += static_cast<std::ptrdiff_t>(index[i]) * strides[i];
  }
  return offset;
}

// A place for a box: `size` bytes, of which the first element stands at `origin`.
struct Layout {
  Strides strides;
  std::size_t origin = 0;
  std::size_t size = 0;
};

// Any layout whose elements do not overlap: axes in any order and direction, with gaps.
inline Layout random_layout(Random& random, const Shape& shape, std::size_t item_size) {
  std::vector<std::size_t> order(shape.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), random);
  Layout layout{Strides(shape.size()), 0, item_size};
  for (const std::size_t axis : order) {
    const std::size_t stride = layout.size + memory_size(random_number(random, 0, 2)) * item_size;
    const std::size_t extent = memory_size(shape[axis] == 0 ? 0 : shape[axis] - 1) * stride;
    layout.strides[axis] = static_cast<std::ptrdiff_t>(stride);
    layout.size += extent;
    if (random() % 2 == 0) {
      layout.strides[axis] = -layout.strides[axis];
      layout.origin += extent;
    }
  }
  return layout;
}

inline Shape random_shape(Random& random, std::size_t max_rank, std::uint64_t max_length) {
  Shape shape(memory_size(random_number(random, 0, max_rank)));
  for (std::uint64_t& length : shape) length = random_number(random, 1, max_length);
  return shape;
}

}  // namespace zarrcore::test
