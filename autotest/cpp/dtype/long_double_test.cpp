#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "autotest/cpp/support/bytes.h"
#include "zarrcore/base/endian.h"
#include "zarrcore/dtype/small_float.h"

namespace zarrcore::test::long_double_test {
namespace {

constexpr auto kX87 = FloatFormat::float80;
constexpr auto kQuad = FloatFormat::float128;

// The float64 of little-endian bytes.
double decoded(FloatFormat format, const std::string& hex) {
  Bytes element = from_hex(hex);
  if constexpr (kHostEndian == Endian::big) swap_bytes(element, 16);
  return decode_long_double(format, element.data());
}
Bytes encoded(FloatFormat format, double value) {
  Bytes element(16);
  encode_long_double(format, value, element.data());
  if constexpr (kHostEndian == Endian::big) swap_bytes(element, 16);
  return element;
}

TEST(LongDouble, ReadsX87) {
  // np.array([1.5, -2], 'longdouble').tobytes() on x86-64
  EXPECT_EQ(decoded(kX87, "00000000000000c0ff3f000000000000"), 1.5);
  EXPECT_EQ(decoded(kX87, "000000000000008000c0000000000000"), -2.0);
  // The padding has no meaning.
  EXPECT_EQ(decoded(kX87, "00000000000000c0ff3f7856341290ab"), 1.5);
}

TEST(LongDouble, ReadsQuads) {
  // 1.5 and -2 as GCC's __float128 has them.
  EXPECT_EQ(decoded(kQuad, "0000000000000000000000000080ff3f"), 1.5);
  EXPECT_EQ(decoded(kQuad, "000000000000000000000000000000c0"), -2.0);
}

TEST(LongDouble, RoundsToNearestEven) {
  // 1 + 2^-53 is half way to the next float64: to 1; with one more bit anywhere, up; and
  // 1 + 3 * 2^-53 to 1 + 2^-51.
  const double up = 1 + std::ldexp(1, -52);
  EXPECT_EQ(decoded(kX87, "0004000000000080ff3f000000000000"), 1.0);
  EXPECT_EQ(decoded(kX87, "0104000000000080ff3f000000000000"), up);
  EXPECT_EQ(decoded(kX87, "000c000000000080ff3f000000000000"), 1 + std::ldexp(1, -51));
  EXPECT_EQ(decoded(kQuad, "0000000000000008000000000000ff3f"), 1.0);
  EXPECT_EQ(decoded(kQuad, "0100000000000008000000000000ff3f"), up);
  EXPECT_EQ(decoded(kQuad, "0000000000000018000000000000ff3f"), 1 + std::ldexp(1, -51));
}

TEST(LongDouble, NumbersBeyondAFloat64AreInfiniteOrZeroWithTheirSign) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(decoded(kX87, "0000000000000080ff43000000000000"), infinity);  // 2^1024
  EXPECT_EQ(decoded(kX87, "fffffffffffffffffe43000000000000"), infinity);  // just below it
  EXPECT_EQ(decoded(kQuad, "00000000000000000000000000000080"), 0.0);
  EXPECT_TRUE(std::signbit(decoded(kQuad, "00000000000000000000000000000080")));
  EXPECT_EQ(decoded(kX87, "0000000000000080cc3b000000000000"), 0.0);  // 2^-1075, half way
  EXPECT_EQ(decoded(kX87, "0100000000000080cc3b000000000000"), 0x1p-1074);
  EXPECT_EQ(decoded(kX87, "00000000000000c0cd3b000000000000"), 0x1p-1073);  // 1.5 * 2^-1074
}

TEST(LongDouble, ReadsWhatIsNoNumber) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(decoded(kX87, "0000000000000080ffff000000000000"), -infinity);
  EXPECT_EQ(decoded(kQuad, "0000000000000000000000000000ff7f"), infinity);
  EXPECT_TRUE(std::isnan(decoded(kX87, "00000000000000c0ff7f000000000000")));
  EXPECT_TRUE(
      std::isnan(decoded(kX87, "0000000000000000ff3f000000000000")));  // without a first bit
  EXPECT_TRUE(std::isnan(decoded(kQuad, "0100000000000000000000000000ff7f")));
}

TEST(LongDouble, WritesAllFloat64sExactly) {
  EXPECT_EQ(encoded(kX87, 1.5), from_hex("00000000000000c0ff3f000000000000"));
  EXPECT_EQ(encoded(kQuad, -2), from_hex("000000000000000000000000000000c0"));
  using Limits = std::numeric_limits<double>;
  Random random(3);
  std::vector<double> values{0.0,
                             -0.0,
                             Limits::max(),
                             Limits::lowest(),
                             Limits::min(),
                             Limits::denorm_min(),
                             Limits::infinity()};
  for (int i = 0; i < 10000; ++i) {
    const auto value = std::bit_cast<double>(std::uint64_t{random()});
    if (!std::isnan(value)) values.push_back(value);
  }
  for (const FloatFormat format : {kX87, kQuad}) {
    for (const double value : values) {
      Bytes element(16);
      encode_long_double(format, value, element.data());
      const double back = decode_long_double(format, element.data());
      ASSERT_EQ(std::bit_cast<std::uint64_t>(back), std::bit_cast<std::uint64_t>(value)) << value;
    }
    Bytes nan(16);
    encode_long_double(format, Limits::quiet_NaN(), nan.data());
    EXPECT_TRUE(std::isnan(decode_long_double(format, nan.data())));
  }
}

}  // namespace
}  // namespace zarrcore::test::long_double_test
