// Moving elements between two layouts of the same box of an array. A layout is a pointer to the
// first element and one stride per dimension, in bytes. Strides may be negative, zero (in a source:
// one element repeated) or in any order, so a transposition only needs other strides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "zarrcore/base/api.h"

namespace zarrcore {

using Shape = std::vector<std::uint64_t>;
using Strides = std::vector<std::ptrdiff_t>;

// Strides of a dense array whose last dimension varies fastest.
ZARRCORE_API Strides c_strides(std::span<const std::uint64_t> shape, std::uint64_t item_size);

// Copies a box of `shape` elements of `item_size` bytes each. The layouts must not overlap.
ZARRCORE_API void copy_strided(std::span<const std::uint64_t> shape, std::uint64_t item_size,
                               const std::byte* source,
                               std::span<const std::ptrdiff_t> source_strides,
                               std::byte* destination,
                               std::span<const std::ptrdiff_t> destination_strides);

// Turns elements of one type into elements of another. Implementations are immutable and are
// called from several threads at once.
class ZARRCORE_API ElementConverter {
 public:
  virtual ~ElementConverter() = default;
  // Converts `count` elements; strides are in bytes.
  virtual void convert(const std::byte* source, std::ptrdiff_t source_stride,
                       std::byte* destination, std::ptrdiff_t destination_stride,
                       std::size_t count) const = 0;
};

// Like copy_strided, but converts each element.
ZARRCORE_API void convert_strided(std::span<const std::uint64_t> shape,
                                  const ElementConverter& converter, const std::byte* source,
                                  std::span<const std::ptrdiff_t> source_strides,
                                  std::byte* destination,
                                  std::span<const std::ptrdiff_t> destination_strides);

// convert_strided() if there is a converter, else copy_strided().
ZARRCORE_API void copy_or_convert(std::span<const std::uint64_t> shape, std::uint64_t item_size,
                                  const ElementConverter* converter, const std::byte* source,
                                  std::span<const std::ptrdiff_t> source_strides,
                                  std::byte* destination,
                                  std::span<const std::ptrdiff_t> destination_strides);

// Moves `position` to the next one of a box that has `count(i)` > 0 positions along dimension i,
// the last dimension fastest. Calls `move(i, steps)` with the signed number of steps along each
// dimension in which it moves, so that callers can keep offsets up to date. After the last position
// it returns false, and `position` is the first one again.
template <typename Count, typename Move>
bool advance_position(std::span<std::uint64_t> position, const Count& count, const Move& move) {
  for (std::size_t i = position.size(); i-- > 0;) {
    if (++position[i] < count(i)) {
      move(i, std::ptrdiff_t{1});
      return true;
    }
    move(i, -static_cast<std::ptrdiff_t>(position[i] - 1));
    position[i] = 0;
  }
  return false;
}

}  // namespace zarrcore
