#include "zarrcore/dtype/small_float.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "zarrcore/base/endian.h"

namespace zarrcore {
namespace {

// How a format uses the codes that could be infinities and NaNs.
enum class Specials : std::uint8_t {
  ieee,               // the largest exponent: infinity, and NaN with a fraction
  only_nan,           // all bits set: NaN; no infinity (fn)
  unsigned_zero_nan,  // the code of negative zero: NaN; no infinity, no negative zero (fnuz)
  none,               // every code is a number
};

struct Layout {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  Specials specials;

  std::uint16_t mantissa_mask() const {
    return static_cast<std::uint16_t>((1u << mantissa_bits) - 1);
  }
  std::uint16_t sign_bit() const {
    return static_cast<std::uint16_t>(1u << (exponent_bits + mantissa_bits));
  }
  int max_exponent() const { return (1 << exponent_bits) - 1; }
};

// By FloatFormat.
constexpr Layout kLayouts[] = {
    {5, 10, 15, Specials::ieee},              // ieee: binary16
    {8, 7, 127, Specials::ieee},              // bfloat16
    {3, 4, 3, Specials::ieee},                // float8_e3m4
    {4, 3, 7, Specials::ieee},                // float8_e4m3
    {4, 3, 11, Specials::unsigned_zero_nan},  // float8_e4m3b11fnuz
    {4, 3, 7, Specials::only_nan},            // float8_e4m3fn
    {4, 3, 8, Specials::unsigned_zero_nan},   // float8_e4m3fnuz
    {5, 2, 15, Specials::ieee},               // float8_e5m2
    {5, 2, 16, Specials::unsigned_zero_nan},  // float8_e5m2fnuz
    {8, 0, 127, Specials::only_nan},          // float8_e8m0fnu
    {2, 3, 1, Specials::none},                // float6_e2m3fn
    {3, 2, 3, Specials::none},                // float6_e3m2fn
    {2, 1, 1, Specials::none},                // float4_e2m1fn
};
static_assert(std::size(kLayouts) == static_cast<std::size_t>(FloatFormat::long_double));

Layout layout_of(FloatFormat format) {
  const auto index = static_cast<std::size_t>(format);
  return kLayouts[index < std::size(kLayouts) ? index : 0];
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Only powers of two from 2^-127 to 2^127: no sign, no zero.
float decode_e8m0(std::uint16_t bits) {
  const int code = bits & 0xff;
  return code == 0xff ? kNan : std::ldexp(1.0f, code - 127);
}

std::uint16_t encode_e8m0(double value) {
  if (!(value > 0) || std::isinf(value)) return 0xff;
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);  // value = fraction * 2^exponent
  // Of two powers the nearer one; the middle, 0.75, becomes the even code.
  int code = exponent - 1 + 127;
  if (fraction > 0.75 || (fraction == 0.75 && code % 2 != 0)) ++code;
  return static_cast<std::uint16_t>(code > 254 ? 0xff : std::max(code, 0));
}

// The largest code of a finite number, without sign.
std::uint16_t largest_code(const Layout& layout) {
  const auto all = static_cast<std::uint16_t>(layout.sign_bit() - 1);
  switch (layout.specials) {
    case Specials::ieee:
      return static_cast<std::uint16_t>((layout.max_exponent() << layout.mantissa_bits) - 1);
    case Specials::only_nan:
      return static_cast<std::uint16_t>(all - 1);
    default:
      return all;
  }
}

std::uint16_t nan_code(const Layout& layout) {
  switch (layout.specials) {
    case Specials::ieee:  // quiet: the highest bit of the fraction
      return static_cast<std::uint16_t>(layout.max_exponent() << layout.mantissa_bits |
                                        1 << (layout.mantissa_bits - 1));
    case Specials::only_nan:
      return static_cast<std::uint16_t>(layout.sign_bit() - 1);
    case Specials::unsigned_zero_nan:
      return layout.sign_bit();
    default:
      return largest_code(layout);
  }
}

}  // namespace

float decode_small_float(FloatFormat format, std::uint16_t bits) {
  if (format == FloatFormat::float8_e8m0fnu) return decode_e8m0(bits);
  const Layout layout = layout_of(format);
  const auto code = static_cast<std::uint16_t>(bits & (layout.sign_bit() - 1));
  const bool negative = (bits & layout.sign_bit()) != 0;
  if (layout.specials == Specials::unsigned_zero_nan && negative && code == 0) return kNan;
  if (layout.specials == Specials::only_nan && code == nan_code(layout)) return kNan;
  const int exponent = code >> layout.mantissa_bits;
  const int mantissa = code & layout.mantissa_mask();
  float magnitude = 0;
  if (layout.specials == Specials::ieee && exponent == layout.max_exponent()) {
    magnitude = mantissa == 0 ? kInfinity : kNan;
  } else if (exponent == 0) {
    magnitude = std::ldexp(static_cast<float>(mantissa), 1 - layout.bias - layout.mantissa_bits);
  } else {
    magnitude = std::ldexp(static_cast<float>(mantissa | 1 << layout.mantissa_bits),
                           exponent - layout.bias - layout.mantissa_bits);
  }
  return negative ? -magnitude : magnitude;
}

std::uint16_t encode_small_float(FloatFormat format, double value) {
  if (format == FloatFormat::float8_e8m0fnu) return encode_e8m0(value);
  const Layout layout = layout_of(format);
  const std::uint16_t sign = std::signbit(value) ? layout.sign_bit() : std::uint16_t{0};
  if (std::isnan(value)) return nan_code(layout);
  const double magnitude = std::abs(value);
  // The spacing of the format's numbers around the value, which is rounded to a multiple of it.
  int exponent = 1 - layout.bias;  // of zero and of subnormal numbers
  if (magnitude != 0) {
    int top = 0;
    std::frexp(magnitude, &top);
    exponent = std::max(exponent, top - 1);
  }
  const double units = std::isinf(magnitude)
                           ? kInfinity
                           : std::nearbyint(std::ldexp(magnitude, layout.mantissa_bits - exponent));
  const double largest = std::abs(decode_small_float(format, largest_code(layout)));
  if (std::ldexp(units, exponent - layout.mantissa_bits) > largest) {
    switch (layout.specials) {
      case Specials::ieee:
        return static_cast<std::uint16_t>(sign | layout.max_exponent() << layout.mantissa_bits);
      case Specials::none:
        return static_cast<std::uint16_t>(sign | largest_code(layout));
      default:
        return static_cast<std::uint16_t>(
            layout.specials == Specials::only_nan ? sign | nan_code(layout) : nan_code(layout));
    }
  }
  // With the implicit bit, the units of a normal number carry into the exponent by themselves.
  const auto code = static_cast<std::uint16_t>(
      static_cast<int>(units) + ((exponent + layout.bias - 1) << layout.mantissa_bits));
  if (code == 0 && layout.specials == Specials::unsigned_zero_nan) return 0;
  return static_cast<std::uint16_t>(sign | code);
}

FloatLimits float_limits(const DataType& type) {
  const FloatFormat format = type.float_format;
  if (format == FloatFormat::ieee && type.item_size == 8) {
    constexpr double kLargest = std::numeric_limits<double>::max();
    return {53, -1074, -kLargest, kLargest, true, true};
  }
  if (format == FloatFormat::ieee && type.item_size == 4) {
    constexpr double kLargest = std::numeric_limits<float>::max();
    return {24, -149, -kLargest, kLargest, true, true};
  }
  if (format == FloatFormat::float8_e8m0fnu) return {1, -127, 0x1p-127, 0x1p127, false, true};
  const Layout layout = layout_of(format);
  const double largest = decode_small_float(format, largest_code(layout));
  return {
      layout.mantissa_bits + 1,          1 - layout.bias - layout.mantissa_bits, -largest, largest,
      layout.specials == Specials::ieee, layout.specials != Specials::none};
}

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

// The float64 nearest to `mantissa`, whose top bit is set, times 2^(exponent - 63). `has_rest`
// means that the number is a little larger.
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
  // x87 stores the first bit of the fraction explicitly; without it, the number is invalid.
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
