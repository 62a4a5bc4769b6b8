// Floats of 16 bits and less: bfloat16, the types of the OCP 8-bit and microscaling (MX)
// specifications and of ml_dtypes, and IEEE 754 binary16, rounding to nearest even. Then long
// doubles.
#pragma once

#include <bit>
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

inline float float16_to_float(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
  const std::uint32_t exponent = half >> 10 & 0x1fu;
  const std::uint32_t fraction = half & 0x3ffu;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | fraction << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  // Zero or subnormal: fraction units of 2^-24, which a float holds exactly.
  const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
  return sign != 0 ? -magnitude : magnitude;
}

inline std::uint16_t double_to_float16(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 48 & 0x8000u);
  const std::uint64_t magnitude = bits & 0x7fffffffffffffffu;
  if (magnitude > 0x7ff0000000000000u) {  // NaN: keep the top of the payload, and keep it NaN
    return static_cast<std::uint16_t>(sign | 0x7e00u | (magnitude >> 42 & 0x1ffu));
  }
  const double absolute = std::bit_cast<double>(magnitude);
  if (absolute >= 65520.0) return sign | 0x7c00u;  // rounds to infinity
  if (absolute < 0x1p-14) {
    // Adding 2^28 leaves the multiple of 2^-24 in the low bits, rounded to nearest even.
    const double shifted = absolute + 0x1p28;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint64_t>(shifted) & 0x7ffu));
  }
  // Rebias the exponent (1023 to 15), then round the 42 bits away that do not fit.
  std::uint64_t scaled = magnitude - (std::uint64_t{1023 - 15} << 52);
  scaled += 0x1ffffffffffu + (scaled >> 42 & 1u);
  return static_cast<std::uint16_t>(sign | scaled >> 42);
}

// Long doubles of C, which NumPy calls `<f16` on every computer, although their bits differ: x87's
// format of 80 bits, padded to 16 bytes, or IEEE 754 binary128. Their values become float64:
// rounded to nearest even, infinite above its range. Numbers too small for it become zero with
// their sign.
//
// The float64 of the 16 bytes of an element in memory. `format` is float80 or float128.
ZARRCORE_API double decode_long_double(FloatFormat format, const std::byte* element);

// The inverse, which is exact.
ZARRCORE_API void encode_long_double(FloatFormat format, double value, std::byte* element);

// Returns true if a type, or a field of it, is a long double whose format is not known.
ZARRCORE_API bool has_unknown_long_double(const DataType& type);

}  // namespace zarrcore
