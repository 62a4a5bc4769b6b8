// Floats of 16 bits and less that are not IEEE's: bfloat16, and the formats of the OCP 8-bit and
// microscaling (MX) specifications and of ml_dtypes.
#pragma once

#include <cstdint>

#include "zarrcore/dtype/data_type.h"

namespace zarrcore {

// The value of `bits`, of which those above the format's width are ignored. Not for
// FloatFormat::ieee.
float decode_small_float(FloatFormat format, std::uint16_t bits);

// The nearest number of the format, ties to even. What is too large becomes infinity; in formats
// without infinities NaN, and in those without NaN the largest number.
std::uint16_t encode_small_float(FloatFormat format, double value);

// What the numbers of a float type are: multiples of 2^min_exponent with at most `precision` bits,
// from `lowest` to `largest`.
struct FloatLimits {
  int precision;
  int min_exponent;
  double lowest;
  double largest;
  bool has_infinity;
  bool has_nan;
};

// Of any type of the kind `floating`, IEEE's included.
FloatLimits float_limits(const DataType& type);

}  // namespace zarrcore
