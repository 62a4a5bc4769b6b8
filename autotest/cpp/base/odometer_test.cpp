#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "zarrcore/base/strided.h"

namespace zarrcore::test::odometer_test {
namespace {

// The offsets of all positions of a box, in the order of the visit.
std::vector<std::ptrdiff_t> visit(const std::vector<std::uint64_t>& counts,
                                  const std::vector<std::ptrdiff_t>& strides) {
  std::vector<std::uint64_t> position(counts.size(), 0);
  std::vector<std::ptrdiff_t> offsets;
  std::ptrdiff_t offset = 0;
  do {
    offsets.push_back(offset);
  } while (advance_position(
      position, [&](std::size_t i) { return counts[i]; },
      [&](std::size_t i, std::ptrdiff_t steps) { offset += steps * strides[i]; }));
  EXPECT_EQ(offset, 0);
  EXPECT_EQ(position, std::vector<std::uint64_t>(counts.size(), 0));
  return offsets;
}

TEST(Odometer, TheLastDimensionMovesFastest) {
  EXPECT_EQ(visit({2, 3}, {10, 1}), (std::vector<std::ptrdiff_t>{0, 1, 2, 10, 11, 12}));
  EXPECT_EQ(visit({2, 1, 2}, {1, 100, -5}), (std::vector<std::ptrdiff_t>{0, -5, 1, -4}));
}

TEST(Odometer, ABoxWithoutDimensionsHasOnePosition) {
  EXPECT_EQ(visit({}, {}), std::vector<std::ptrdiff_t>{0});
}

}  // namespace
}  // namespace zarrcore::test::odometer_test
