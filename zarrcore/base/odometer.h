// Visiting every position of an N-dimensional box in C order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace zarrcore {

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
