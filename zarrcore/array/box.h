// A box of an array: consecutive elements along each dimension.
#pragma once

#include <cstdint>
#include <optional>

#include "zarrcore/array/selection.h"

namespace zarrcore {

struct Box {
  Shape start;
  Shape count;

  bool operator==(const Box&) const = default;
  std::uint64_t size() const;  // elements; 2^64 - 1 if they are more
  bool meets(const Box& other) const;
  bool contains(const Box& other) const;
};

// The part that two boxes share; nullopt if they share none.
std::optional<Box> intersection(const Box& a, const Box& b);

// The smallest box with all elements of a selection that is not empty.
Box box_around(const Selection& selection);

}  // namespace zarrcore
