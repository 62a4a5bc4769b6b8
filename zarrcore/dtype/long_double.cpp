#include "zarrcore/dtype/long_double.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "zarrcore/base/endian.h"

namespace zarrcore {
namespace {

constexpr int kLongBias = 16383;
constexpr int kLongMaxExponent = 0x7fff;
constexpr std::uint64_t kTopBit = std::uint64_t{1} << 63;

// The halves of an element's 128 bits.
struct Halves {
  std::uint64_t high;
  std::uint64_t low;
};
constexpr std::size_t kHighAt = kHostEndian == Endian::little ? sizeof(std::uint64_t) : 0;
constexpr std::size_t kLowAt = sizeof(std::uint64_t) - kHighAt;

// The float64 nearest to `mantissa`, whose top bit is set, times 2^(exponent - 63). `has_rest` says
// that the number is a little larger.
double rounded(std::uint64_t mantissa, bool has_rest, int exponent) {
  constexpr int kMinExponent = -1022;
  if (exponent > 1023) return std::numeric_limits<double>::infinity();
  // Fewer bits are left for numbers below the normal ones.
  const int kept = exponent >= kMinExponent ? 53 : 53 - (kMinExponent - exponent);
  if (kept < 0) return 0;
  const auto dropped = static_cast<unsigned>(64 - kept);
  std::uint64_t number = dropped == 64 ? 0 : mantissa >> dropped;
  const std::uint64_t rest = mantissa << (64 - dropped);
  const bool is_odd = (number & 1) != 0;
  if (rest > kTopBit || (rest == kTopBit && (has_rest || is_odd))) ++number;
  return std::ldexp(static_cast<double>(number), exponent - 63 + static_cast<int>(dropped));
}

double magnitude(FloatFormat format, const Halves& bits) {
  const bool is_x87 = format == FloatFormat::float80;
  const auto biased = static_cast<int>((is_x87 ? bits.high : bits.high >> 48) & kLongMaxExponent);
  // The bits after the first one, from the top.
  const std::uint64_t fraction = is_x87 ? bits.low << 1 : bits.high << 16 | bits.low >> 48;
  const std::uint64_t rest = is_x87 ? 0 : bits.low << 16;
  if (biased == 0) return 0;
  // x87 states the first bit; without it, such a number is none.
  const bool is_number = !is_x87 || (bits.low & kTopBit) != 0;
  if (biased == kLongMaxExponent && fraction == 0 && rest == 0 && is_number) {
    return std::numeric_limits<double>::infinity();
  }
  if (biased == kLongMaxExponent || !is_number) return std::numeric_limits<double>::quiet_NaN();
  return rounded(kTopBit | fraction >> 1, (fraction & 1) != 0 || rest != 0, biased - kLongBias);
}

}  // namespace

double decode_long_double(FloatFormat format, const std::byte* element) {
  const Halves bits{load_integer<std::uint64_t>(element + kHighAt, kHostEndian),
                    load_integer<std::uint64_t>(element + kLowAt, kHostEndian)};
  const std::uint64_t sign_bit = format == FloatFormat::float80 ? 0x8000 : kTopBit;
  return std::copysign(magnitude(format, bits), (bits.high & sign_bit) != 0 ? -1.0 : 1.0);
}

void encode_long_double(FloatFormat format, double value, std::byte* element) {
  std::uint64_t exponent = 0;
  std::uint64_t mantissa = 0;  // the first bit at the top
  if (!std::isfinite(value)) {
    exponent = kLongMaxExponent;
    mantissa = std::isnan(value) ? kTopBit | kTopBit >> 1 : kTopBit;
  } else if (value != 0) {
    int power = 0;
    const double fraction = std::frexp(std::abs(value), &power);
    mantissa = static_cast<std::uint64_t>(std::ldexp(fraction, 53)) << 11;
    exponent = static_cast<std::uint64_t>(std::int64_t{power} - 1 + kLongBias);
  }
  const std::uint64_t sign = std::signbit(value) ? 1 : 0;
  const bool is_x87 = format == FloatFormat::float80;
  const std::uint64_t after_first = mantissa << 1;
  const Halves bits =
      is_x87 ? Halves{sign << 15 | exponent, mantissa}
             : Halves{sign << 63 | exponent << 48 | after_first >> 16, after_first << 48};
  store_integer(bits.high, kHostEndian, element + kHighAt);
  store_integer(bits.low, kHostEndian, element + kLowAt);
}

bool has_unknown_long_double(const DataType& type) {
  if (type.fields == nullptr) return type.float_format == FloatFormat::long_double;
  return std::ranges::any_of(
      *type.fields, [](const Field& field) { return has_unknown_long_double(field.type); });
}

}  // namespace zarrcore
