// Floats of 16 bits and less in formats other than IEEE's: bfloat16, and those of the OCP 8-bit and
// microscaling (MX) specifications and of ml_dtypes.
#pragma once

#include <cstdint>

#include "zarrcore/dtype/data_type.h"

namespace zarrcore {

// The value of `bits`; those above the format's width are ignored. Not for FloatFormat::ieee.
float decode_small_float(FloatFormat format, std::uint16_t bits);

// The nearest number of the format, ties to even. Numbers that are too large become infinity, in
// formats without infinity NaN, and in those without NaN the largest number.
std::uint16_t encode_small_float(FloatFormat format, double value);

// The numbers of a float type: multiples of 2^min_exponent with at most `precision` bits, from
// `lowest` to `largest`.
struct FloatLimits {
  int precision;
  int min_exponent;
  double lowest;
  double largest;
  bool has_infinity;
  bool has_nan;
};

// For any type of the kind `floating`, including IEEE's.
FloatLimits float_limits(const DataType& type);

}  // namespace zarrcore
