#include "zarrcore/array/selection.h"

#include <gtest/gtest.h>

#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/expect_error.h"

namespace zarrcore::test::selection_test {
namespace {

TEST(AxisWalker, VisitsEverySelectedElementOnceAndInOrder) {
  Random random(12);
  for (int round = 0; round < 1000; ++round) {
    const std::uint64_t length = random_number(random, 1, 100);
    const std::uint64_t chunk_length = random_number(random, 1, 30);
    const std::uint64_t step = random_number(random, 1, 40);
    const std::uint64_t start = random_number(random, 0, length - 1);
    const std::uint64_t count = random_number(random, 1, (length - 1 - start) / step + 1);
    const GridDimension dimension(length, chunk_length);
    AxisWalker walker(dimension, start, count, step);
    std::uint64_t next = 0;
    do {
      const AxisWalker::Slice slice = walker.slice();
      ASSERT_EQ(slice.position, next);
      ASSERT_GE(slice.count, 1);
      for (std::uint64_t i = 0; i < slice.count; ++i, ++next) {
        const std::uint64_t in_chunk = slice.start + i * step;
        ASSERT_LT(in_chunk, chunk_length);
        ASSERT_EQ(slice.chunk * chunk_length + in_chunk, start + next * step);
      }
    } while (walker.advance());
    EXPECT_EQ(next, count);
    EXPECT_EQ(walker.slice().position, 0) << "it starts again";
  }
}

TEST(AxisWalker, WalksPast32Bits) {
  const std::uint64_t far = std::uint64_t{1} << 40;
  AxisWalker walker(GridDimension(far * 4, 1000), far, 3, far);
  EXPECT_EQ(walker.slice().chunk, far / 1000);
  ASSERT_TRUE(walker.advance());
  EXPECT_EQ(walker.slice().chunk, 2 * far / 1000);
  ASSERT_TRUE(walker.advance());
  EXPECT_EQ(walker.slice().position, 2);
  EXPECT_FALSE(walker.advance());
}

TEST(AxisWalker, SeveralStepLikeAnOdometer) {
  std::vector<AxisWalker> walkers;
  walkers.emplace_back(GridDimension(4, 2), 0, 4, 1);
  walkers.emplace_back(GridDimension(6, 2), 0, 6, 1);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> chunks;
  do {
    chunks.emplace_back(walkers[0].slice().chunk, walkers[1].slice().chunk);
  } while (advance(walkers));
  EXPECT_EQ(chunks, (std::vector<std::pair<std::uint64_t, std::uint64_t>>{
                        {0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}}));
  EXPECT_FALSE(advance(std::span<AxisWalker>()));
}

TEST(CheckSelection, AcceptsWhatIsInside) {
  const Shape shape{10, 20};
  EXPECT_NO_THROW(check_selection({{0, 0}, {10, 20}, {}}, shape));
  EXPECT_NO_THROW(check_selection({{1, 19}, {3, 5}, {4, -4}}, shape));
  EXPECT_NO_THROW(check_selection({{9, 0}, {10, 1}, {-1, 100}}, shape));
  EXPECT_NO_THROW(check_selection({{}, {}, {}}, {}));
}

TEST(CheckSelection, NothingSelectedIsAlwaysInside) {
  EXPECT_NO_THROW(check_selection({{99, 0}, {0, 0}, {}}, {10, 20}));
}

TEST(CheckSelection, AStepOfZeroIsFineForOneElement) {
  EXPECT_NO_THROW(check_selection({{3}, {1}, {0}}, {10}));
  EXPECT_ERROR(check_selection({{3}, {2}, {0}}, {10}), "the step of dimension 0 is zero");
}

TEST(CheckSelection, RefusesWhatReachesOutside) {
  for (const Selection& selection :
       {Selection{{0}, {11}, {}}, Selection{{10}, {1}, {}}, Selection{{5}, {3}, {3}},
        Selection{{5}, {3}, {-3}}, Selection{{UINT64_MAX}, {1}, {}},
        Selection{{1}, {UINT64_MAX}, {1}}, Selection{{1}, {2}, {INT64_MAX}},
        Selection{{1}, {2}, {INT64_MIN}}, Selection{{9}, {UINT64_MAX}, {INT64_MIN}}}) {
    EXPECT_ERROR(check_selection(selection, {10}), "reaches outside dimension 0 of length 10");
  }
  EXPECT_ERROR(check_selection({{0}, {1}, {}}, {0}), "reaches outside");
}

TEST(CheckSelection, RefusesAnotherRank) {
  for (const Selection& selection :
       {Selection{{0}, {1}, {}}, Selection{{0, 0}, {1}, {}}, Selection{{0, 0}, {1, 1}, {1}}}) {
    EXPECT_ERROR(check_selection(selection, {10, 20}), "does not have the 2 dimensions");
  }
}

}  // namespace
}  // namespace zarrcore::test::selection_test
