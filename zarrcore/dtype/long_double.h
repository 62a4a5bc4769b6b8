// Long doubles of C, which NumPy calls `<f16` on every computer, although their bits differ: x87's
// format of 80 bits, padded to 16 bytes, or IEEE 754 binary128. Their values become float64:
// rounded to nearest even, infinite above its range. Only the sign of smaller numbers than it has
// is kept.
#pragma once

#include "zarrcore/dtype/data_type.h"

namespace zarrcore {

// The float64 of the 16 bytes of an element in memory. `format` is float80 or float128.
ZARRCORE_API double decode_long_double(FloatFormat format, const std::byte* element);

// The inverse, which is exact.
ZARRCORE_API void encode_long_double(FloatFormat format, double value, std::byte* element);

// Returns true if a type, or a field of it, is a long double whose format is not known.
ZARRCORE_API bool has_unknown_long_double(const DataType& type);

}  // namespace zarrcore
