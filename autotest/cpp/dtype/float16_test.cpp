#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "autotest/cpp/support/bytes.h"
#include "zarrcore/dtype/small_float.h"

namespace zarrcore::test::float16_test {
namespace {

// The value of a half-precision number by the definition of IEEE 754.
double value_of(std::uint16_t half) {
  const int exponent = half >> 10 & 0x1f;
  const int fraction = half & 0x3ff;
  const double sign = (half & 0x8000) != 0 ? -1 : 1;
  if (exponent == 0x1f) return fraction == 0 ? sign * HUGE_VAL : std::nan("");
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

TEST(Float16, EveryValueBecomesTheFloatOfTheDefinition) {
  for (unsigned bits = 0; bits <= 0xffff; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const double expected = value_of(half);
    const float actual = float16_to_float(half);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(actual)) << bits;
    } else {
      EXPECT_EQ(actual, expected) << bits;
    }
    EXPECT_EQ(std::signbit(actual), (bits & 0x8000) != 0) << bits;
  }
}

TEST(Float16, EveryValueSurvivesARoundTrip) {
  for (unsigned bits = 0; bits <= 0xffff; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const std::uint16_t back = double_to_float16(float16_to_float(half));
    // A signalling NaN may come back quiet.
    const bool is_nan = (bits & 0x7fff) > 0x7c00;
    EXPECT_EQ(back, is_nan ? bits | 0x0200 : bits);
  }
}

TEST(Float16, RoundsToTheNearestAndTiesToEven) {
  // Between each finite number and the next larger one: a little below, at, and above the middle.
  // Past the largest lies infinity, as if it were 65536.
  for (unsigned bits = 0; bits < 0x7c00; ++bits) {
    const auto low = static_cast<std::uint16_t>(bits);
    const auto high = static_cast<std::uint16_t>(bits + 1);
    const double high_value = high == 0x7c00 ? 65536.0 : value_of(high);
    const double middle = (value_of(low) + high_value) / 2;
    const std::uint16_t even = bits % 2 == 0 ? low : high;
    for (const int sign : {0, 0x8000}) {
      const double factor = sign == 0 ? 1 : -1;
      const auto round = [&](double value) { return double_to_float16(factor * value); };
      EXPECT_EQ(round(std::nextafter(middle, 0.0)), low | sign) << bits;
      EXPECT_EQ(round(middle), even | sign) << bits;
      EXPECT_EQ(round(std::nextafter(middle, HUGE_VAL)), high | sign) << bits;
    }
  }
}

TEST(Float16, WhatIsTooLargeIsInfiniteAndWhatIsTooSmallIsZero) {
  for (const double value : {65520.0, 1e10, std::numeric_limits<double>::max(), HUGE_VAL}) {
    EXPECT_EQ(double_to_float16(value), 0x7c00);
    EXPECT_EQ(double_to_float16(-value), 0xfc00);
  }
  for (const double value : {0.0, 0x1p-25, 1e-30, std::numeric_limits<double>::denorm_min()}) {
    EXPECT_EQ(double_to_float16(value), 0x0000);
    EXPECT_EQ(double_to_float16(-value), 0x8000);
  }
}

TEST(Float16, EveryNanStaysOne) {
  Random random(6);
  for (int round = 0; round < 1000; ++round) {
    const std::uint64_t bits = random() | 0x7ff0000000000001u;
    EXPECT_GT(double_to_float16(std::bit_cast<double>(bits)) & 0x7fff, 0x7c00);
  }
}

}  // namespace
}  // namespace zarrcore::test::float16_test
