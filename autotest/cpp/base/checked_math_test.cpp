#include "zarrcore/base/checked_math.h"

#include <gtest/gtest.h>

#include <vector>

namespace zarrcore::test::checked_math_test {
namespace {

using Factors = std::vector<std::uint64_t>;

constexpr std::uint64_t kHalf = std::uint64_t{1} << 32;

TEST(CheckedMath, MultipliesWhatFits) {
  EXPECT_EQ(checked_multiply(kHalf, kHalf - 1), kHalf * (kHalf - 1));
  EXPECT_EQ(checked_multiply(UINT64_MAX, 1), UINT64_MAX);
  EXPECT_EQ(checked_multiply(0, UINT64_MAX), 0);
  EXPECT_EQ(checked_multiply(UINT64_MAX, 0), 0);
}

TEST(CheckedMath, SaysWhenAProductDoesNotFit) {
  EXPECT_EQ(checked_multiply(kHalf, kHalf), std::nullopt);
  EXPECT_EQ(checked_multiply(UINT64_MAX, 2), std::nullopt);
}

TEST(CheckedMath, SaysWhenASumDoesNotFit) {
  EXPECT_EQ(checked_add(UINT64_MAX - 1, 1), UINT64_MAX);
  EXPECT_EQ(checked_add(UINT64_MAX, 1), std::nullopt);
}

TEST(CheckedMath, TheProductOfNothingIsOne) {
  EXPECT_EQ(checked_product(Factors{}), 1);
}

TEST(CheckedMath, AProductSaysWhenItDoesNotFit) {
  EXPECT_EQ(checked_product(Factors{kHalf, 2, 3}), kHalf * 6);
  EXPECT_EQ(checked_product(Factors{kHalf, kHalf, 1}), std::nullopt);
}

TEST(CheckedMath, AZeroMakesAnyProductZero) {
  EXPECT_EQ(checked_product(Factors{kHalf, kHalf, 0}), 0);
}

TEST(CheckedMath, CeilDivideRoundsUpWithoutOverflow) {
  EXPECT_EQ(ceil_divide(0, 5), 0);
  EXPECT_EQ(ceil_divide(10, 5), 2);
  EXPECT_EQ(ceil_divide(11, 5), 3);
  EXPECT_EQ(ceil_divide(UINT64_MAX, 2), std::uint64_t{1} << 63);
}

}  // namespace
}  // namespace zarrcore::test::checked_math_test
