// Whether a filter restores what it encoded. NumPy wraps around numbers that a type cannot hold,
// and numcodecs stores the result; here that is an error.
#pragma once

#include <cstddef>
#include <optional>

#include "zarrcore/dtype/data_type.h"

namespace zarrcore {

// How far a decoded element may be from the original.
struct Tolerance {
  double absolute = 0;
  double relative = 0;
  // For sums: the relative part is of the largest element so far, and grows with the count.
  bool accumulates = false;
};

// The distance between 1 and the next number of a float or complex type; 0 for other types.
double rounding_unit(const DataType& type);

// The first of `count` elements of a numeric type or a time that differs from its counterpart in
// `returned` by more than the tolerance; NaN is the same as NaN.
std::optional<std::size_t> find_lost_element(const DataType& type, const std::byte* elements,
                                             const std::byte* returned, std::size_t count,
                                             const Tolerance& tolerance);

}  // namespace zarrcore
