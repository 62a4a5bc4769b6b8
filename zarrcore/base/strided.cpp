#include "zarrcore/base/strided.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "zarrcore/base/buffer.h"

namespace zarrcore {
namespace {

// A list of a few values, one for each dimension; up to eight are stored in the object itself.
template <typename Value>
class RankList {
 public:
  // Room for `most` values; none of them exists yet.
  explicit RankList(std::size_t most) : many_(most > kFew ? most : 0) {}

  void push_back(const Value& value) { data()[size_++] = value; }
  // To fewer values, or, within the room, to more: these are empty ones.
  void resize(std::size_t size) {
    while (size_ < size) push_back(Value{});
    size_ = size;
  }
  void erase(std::size_t i) {
    for (; i + 1 < size_; ++i) data()[i] = data()[i + 1];
    --size_;
  }

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  Value& operator[](std::size_t i) { return data()[i]; }
  const Value& operator[](std::size_t i) const { return data()[i]; }
  Value* begin() { return data(); }
  Value* end() { return data() + size_; }
  const Value* begin() const { return data(); }
  const Value* end() const { return data() + size_; }

 private:
  static constexpr std::size_t kFew = 8;

  Value* data() { return many_.empty() ? few_.data() : many_.data(); }
  const Value* data() const { return many_.empty() ? few_.data() : many_.data(); }

  std::array<Value, kFew> few_;
  std::vector<Value> many_;
  std::size_t size_ = 0;
};

struct LoopAxis {
  std::uint64_t count;
  std::ptrdiff_t source;
  std::ptrdiff_t destination;
};

// The box as a loop nest, outermost axis first: axes of one element are dropped, the destination is
// walked in memory order as far as possible, and axes that continue each other in both layouts are
// merged. Empty for a single element.
RankList<LoopAxis> loop_nest(std::span<const std::uint64_t> shape,
                             std::span<const std::ptrdiff_t> source,
                             std::span<const std::ptrdiff_t> destination) {
  RankList<LoopAxis> axes(shape.size());
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) continue;
    axes.push_back({shape[i], source[i], destination[i]});
    // std::stable_sort() allocates memory.
    for (std::size_t j = axes.size() - 1;
         j > 0 && std::abs(axes[j].destination) > std::abs(axes[j - 1].destination); --j) {
      std::swap(axes[j], axes[j - 1]);
    }
  }
  std::size_t last = 0;
  for (std::size_t i = 1; i < axes.size(); ++i) {
    LoopAxis& outer = axes[last];
    const LoopAxis& inner = axes[i];
    const auto extent = static_cast<std::ptrdiff_t>(inner.count);
    if (outer.source == inner.source * extent && outer.destination == inner.destination * extent) {
      outer = {outer.count * inner.count, inner.source, inner.destination};
    } else {
      axes[++last] = inner;
    }
  }
  if (!axes.empty()) axes.resize(last + 1);
  return axes;
}

// Calls `body(source, destination)` for every position of the outer axes.
template <typename Body>
void for_each_position(const RankList<LoopAxis>& axes, const std::byte* source,
                       std::byte* destination, const Body& body) {
  RankList<std::uint64_t> position(axes.size());
  position.resize(axes.size());
  do {
    body(source, destination);
  } while (advance_position(
      position, [&](std::size_t i) { return axes[i].count; },
      [&](std::size_t i, std::ptrdiff_t steps) {
        source += axes[i].source * steps;
        destination += axes[i].destination * steps;
      }));
}

template <std::size_t kSize>
void copy_row(const std::byte* source, std::ptrdiff_t source_stride, std::byte* destination,
              std::ptrdiff_t destination_stride, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    std::memcpy(destination, source, kSize);
    source += source_stride;
    destination += destination_stride;
  }
}

// Writes the element at `source` `count` times, one after the other.
void fill_row(std::size_t item_size, const std::byte* source, std::byte* destination,
              std::size_t count) {
  const std::size_t size = item_size * count;
  // Elements that have been written are copied to the bytes after them, few enough to stay in the
  // fastest cache.
  const std::size_t most = std::max(std::size_t{4096} / item_size, std::size_t{1}) * item_size;
  std::memcpy(destination, source, item_size);
  for (std::size_t filled = item_size; filled < size;) {
    const std::size_t copied = std::min({filled, most, size - filled});
    std::memcpy(destination + filled, destination, copied);
    filled += copied;
  }
}

void copy_row(std::size_t item_size, const std::byte* source, std::ptrdiff_t source_stride,
              std::byte* destination, std::ptrdiff_t destination_stride, std::size_t count) {
  const auto dense = static_cast<std::ptrdiff_t>(item_size);
  if (source_stride == dense && destination_stride == dense) {
    std::memcpy(destination, source, item_size * count);
    return;
  }
  if (source_stride == 0 && destination_stride == dense) {
    fill_row(item_size, source, destination, count);
    return;
  }
  switch (item_size) {
    case 1:
      return copy_row<1>(source, source_stride, destination, destination_stride, count);
    case 2:
      return copy_row<2>(source, source_stride, destination, destination_stride, count);
    case 4:
      return copy_row<4>(source, source_stride, destination, destination_stride, count);
    case 8:
      return copy_row<8>(source, source_stride, destination, destination_stride, count);
    case 16:
      return copy_row<16>(source, source_stride, destination, destination_stride, count);
    default:
      for (std::uint64_t i = 0; i < count; ++i) {
        std::memcpy(destination, source, item_size);
        source += source_stride;
        destination += destination_stride;
      }
  }
}

// A transposing copy touches a cache line of one side per element. Walked in square tiles, the
// lines of both sides stay in the cache until all their elements are moved.
constexpr std::uint64_t kTile = 32;

template <typename Row>
void copy_tiles(const LoopAxis& a, const LoopAxis& b, const std::byte* source,
                std::byte* destination, const Row& row) {
  for (std::uint64_t i = 0; i < a.count; i += kTile) {
    const std::uint64_t rows = std::min(kTile, a.count - i);
    for (std::uint64_t j = 0; j < b.count; j += kTile) {
      const std::uint64_t columns = std::min(kTile, b.count - j);
      for (std::uint64_t r = i; r < i + rows; ++r) {
        const auto outer = static_cast<std::ptrdiff_t>(r);
        const auto inner = static_cast<std::ptrdiff_t>(j);
        row(source + outer * a.source + inner * b.source,
            destination + outer * a.destination + inner * b.destination,
            static_cast<std::size_t>(columns));
      }
    }
  }
}

template <typename Row>
void run(RankList<LoopAxis> axes, const std::byte* source, std::byte* destination, const Row& row) {
  if (axes.empty()) {
    row(source, std::ptrdiff_t{0}, destination, std::ptrdiff_t{0}, std::size_t{1});
    return;
  }
  const LoopAxis inner = axes[axes.size() - 1];
  axes.resize(axes.size() - 1);
  // If the source is densest along another axis than the inner one, these two make the tiles.
  const LoopAxis* densest = std::min_element(
      axes.begin(), axes.end(),
      [](const LoopAxis& a, const LoopAxis& b) { return std::abs(a.source) < std::abs(b.source); });
  if (densest != axes.end() && densest->source != 0 &&
      std::abs(densest->source) < std::abs(inner.source)) {
    const LoopAxis outer = *densest;
    axes.erase(static_cast<std::size_t>(densest - axes.begin()));
    for_each_position(axes, source, destination, [&](const std::byte* from, std::byte* to) {
      copy_tiles(outer, inner, from, to,
                 [&](const std::byte* row_from, std::byte* row_to, std::size_t count) {
                   row(row_from, inner.source, row_to, inner.destination, count);
                 });
    });
    return;
  }
  for_each_position(axes, source, destination, [&](const std::byte* from, std::byte* to) {
    row(from, inner.source, to, inner.destination, memory_size(inner.count));
  });
}

bool is_empty(std::span<const std::uint64_t> shape) {
  return std::find(shape.begin(), shape.end(), 0) != shape.end();
}

}  // namespace

Strides c_strides(std::span<const std::uint64_t> shape, std::uint64_t item_size) {
  Strides strides(shape.size());
  // Unsigned: an array without elements may have lengths whose product wraps.
  std::uint64_t stride = item_size;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = static_cast<std::ptrdiff_t>(stride);
    stride *= shape[i];
  }
  return strides;
}

void copy_strided(std::span<const std::uint64_t> shape, std::uint64_t item_size,
                  const std::byte* source, std::span<const std::ptrdiff_t> source_strides,
                  std::byte* destination, std::span<const std::ptrdiff_t> destination_strides) {
  if (is_empty(shape) || item_size == 0) return;
  run(loop_nest(shape, source_strides, destination_strides), source, destination,
      [size = memory_size(item_size)](const std::byte* from, std::ptrdiff_t from_stride,
                                      std::byte* to, std::ptrdiff_t to_stride, std::size_t count) {
        copy_row(size, from, from_stride, to, to_stride, count);
      });
}

void convert_strided(std::span<const std::uint64_t> shape, const ElementConverter& converter,
                     const std::byte* source, std::span<const std::ptrdiff_t> source_strides,
                     std::byte* destination, std::span<const std::ptrdiff_t> destination_strides) {
  if (is_empty(shape)) return;
  run(loop_nest(shape, source_strides, destination_strides), source, destination,
      [&converter](const std::byte* from, std::ptrdiff_t from_stride, std::byte* to,
                   std::ptrdiff_t to_stride, std::size_t count) {
        converter.convert(from, from_stride, to, to_stride, count);
      });
}

void copy_or_convert(std::span<const std::uint64_t> shape, std::uint64_t item_size,
                     const ElementConverter* converter, const std::byte* source,
                     std::span<const std::ptrdiff_t> source_strides, std::byte* destination,
                     std::span<const std::ptrdiff_t> destination_strides) {
  if (converter != nullptr) {
    convert_strided(shape, *converter, source, source_strides, destination, destination_strides);
  } else {
    copy_strided(shape, item_size, source, source_strides, destination, destination_strides);
  }
}

}  // namespace zarrcore
