#include "zarrcore/dtype/small_float.h"

#include <gtest/gtest.h>

#include <cmath>

namespace zarrcore::test::small_float_test {
namespace {

// Formats by what their names say, and what the codes that could be infinities and NaNs mean.
struct Definition {
  FloatFormat format;
  const char* name;
  int exponent_bits;
  int mantissa_bits;
  int bias;
  bool has_infinity;  // then the other codes of the largest exponent are NaN
  int nan;            // the only code of NaN, without its sign; -1 where there is none or many
  bool has_negative_zero;
};

constexpr Definition kDefinitions[] = {
    {FloatFormat::bfloat16, "bfloat16", 8, 7, 127, true, -1, true},
    {FloatFormat::float8_e3m4, "float8_e3m4", 3, 4, 3, true, -1, true},
    {FloatFormat::float8_e4m3, "float8_e4m3", 4, 3, 7, true, -1, true},
    {FloatFormat::float8_e4m3fn, "float8_e4m3fn", 4, 3, 7, false, 0x7f, true},
    {FloatFormat::float8_e4m3fnuz, "float8_e4m3fnuz", 4, 3, 8, false, 0x80, false},
    {FloatFormat::float8_e4m3b11fnuz, "float8_e4m3b11fnuz", 4, 3, 11, false, 0x80, false},
    {FloatFormat::float8_e5m2, "float8_e5m2", 5, 2, 15, true, -1, true},
    {FloatFormat::float8_e5m2fnuz, "float8_e5m2fnuz", 5, 2, 16, false, 0x80, false},
    {FloatFormat::float6_e2m3fn, "float6_e2m3fn", 2, 3, 1, false, -1, true},
    {FloatFormat::float6_e3m2fn, "float6_e3m2fn", 3, 2, 3, false, -1, true},
    {FloatFormat::float4_e2m1fn, "float4_e2m1fn", 2, 1, 1, false, -1, true},
};

class SmallFloat : public testing::TestWithParam<Definition> {
 protected:
  int width() const { return 1 + GetParam().exponent_bits + GetParam().mantissa_bits; }

  // The value of a code, straight from the definition of floating-point numbers.
  double value_of(int code) const {
    const Definition& d = GetParam();
    const int sign = code >> (width() - 1);
    const int exponent = code >> d.mantissa_bits & ((1 << d.exponent_bits) - 1);
    const int mantissa = code & ((1 << d.mantissa_bits) - 1);
    const bool is_nan =
        d.has_negative_zero ? (code & ~(1 << (width() - 1))) == d.nan : code == d.nan;
    if (is_nan) return std::nan("");
    if (d.has_infinity && exponent == (1 << d.exponent_bits) - 1) {
      return mantissa != 0 ? std::nan("") : sign != 0 ? -HUGE_VAL : HUGE_VAL;
    }
    const int whole = exponent == 0 ? mantissa : mantissa + (1 << d.mantissa_bits);
    const double magnitude = std::ldexp(whole, std::max(exponent, 1) - d.bias - d.mantissa_bits);
    return sign != 0 ? -magnitude : magnitude;
  }
};

INSTANTIATE_TEST_SUITE_P(Formats, SmallFloat, testing::ValuesIn(kDefinitions),
                         [](const auto& format) { return std::string(format.param.name); });

TEST_P(SmallFloat, EveryCodeHasTheValueOfTheDefinitionAndComesBack) {
  for (int code = 0; code < 1 << width(); ++code) {
    const double expected = value_of(code);
    const float value = decode_small_float(GetParam().format, static_cast<std::uint16_t>(code));
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(value)) << code;
      EXPECT_TRUE(std::isnan(
          decode_small_float(GetParam().format, encode_small_float(GetParam().format, value))));
      continue;
    }
    EXPECT_EQ(value, expected) << code;
    EXPECT_EQ(std::signbit(value), std::signbit(expected)) << code;
    EXPECT_EQ(encode_small_float(GetParam().format, value), code);
  }
}

TEST_P(SmallFloat, WhatLiesBetweenTwoNumbersBecomesTheNearerAndTiesTheEven) {
  const int sign_bit = 1 << (width() - 1);
  for (int code = 0; code + 1 < sign_bit; ++code) {
    const double low = value_of(code);
    const double high = value_of(code + 1);
    if (!std::isfinite(low) || !std::isfinite(high)) continue;
    const double middle = (low + high) / 2;
    const auto encoded = [&](double value) { return encode_small_float(GetParam().format, value); };
    EXPECT_EQ(encoded(std::nextafter(middle, 0)), code);
    EXPECT_EQ(encoded(std::nextafter(middle, HUGE_VAL)), code + 1);
    EXPECT_EQ(encoded(middle), code % 2 == 0 ? code : code + 1);
  }
}

TEST_P(SmallFloat, WhatIsTooLargeBecomesWhatTheFormatHasForIt) {
  const auto code = encode_small_float(GetParam().format, 1e300);
  const float value = decode_small_float(GetParam().format, code);
  if (GetParam().has_infinity) {
    EXPECT_EQ(value, HUGE_VALF);
  } else if (GetParam().nan >= 0) {
    EXPECT_TRUE(std::isnan(value));
  } else {
    EXPECT_EQ(value, value_of((1 << (width() - 1)) - 1));
  }
}

TEST(SmallFloatE8m0, EveryCodeIsAPowerOfTwoButTheLast) {
  for (int code = 0; code < 255; ++code) {
    const auto bits = static_cast<std::uint16_t>(code);
    const float value = decode_small_float(FloatFormat::float8_e8m0fnu, bits);
    EXPECT_EQ(value, std::ldexp(1.0, code - 127));
    EXPECT_EQ(encode_small_float(FloatFormat::float8_e8m0fnu, value), code);
  }
  EXPECT_TRUE(std::isnan(decode_small_float(FloatFormat::float8_e8m0fnu, 255)));
}

}  // namespace
}  // namespace zarrcore::test::small_float_test
