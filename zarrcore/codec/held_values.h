// Whether what a filter encoded comes back. NumPy wraps around what a type cannot hold, and
// numcodecs stores the result; here that is an error.
#pragma once

#include <cstddef>
#include <optional>

#include "zarrcore/dtype/data_type.h"

namespace zarrcore {

// How far an element may be from what comes back of it.
struct Tolerance {
  double absolute = 0;
  double relative = 0;
  // The relative part is of the largest element so far, and grows with the count: of sums.
  bool accumulates = false;
};

// The distance between 1 and the next number, of a float or complex type; 0 of others.
double rounding_unit(const DataType& type);

// The first of `count` elements of a numeric type or a time that differs from its counterpart in
// `returned` by more than the tolerance; NaN is the same as NaN.
std::optional<std::size_t> find_lost_element(const DataType& type, const std::byte* elements,
                                             const std::byte* returned, std::size_t count,
                                             const Tolerance& tolerance);

}  // namespace zarrcore
