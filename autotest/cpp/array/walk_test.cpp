// Recognizing walks through an array, and where they go next.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "zarrcore/array/access_pattern.h"

namespace zarrcore::test::walk_test {
namespace {

using Boxes = std::vector<Box>;

Walk observed(const Shape& shape, const Boxes& boxes) {
  Walk walk(shape);
  for (const Box& box : boxes) walk.observe(box);
  return walk;
}

Boxes predicted(const Walk& walk, std::size_t count, const Shape& unit, bool guesses = false) {
  Boxes boxes;
  walk.predict(unit, guesses, [&](const Box& box) {
    boxes.push_back(box);
    return boxes.size() < count;
  });
  return boxes;
}

// The boxes of a walk along rows of tiles.
Boxes tiles(const Shape& shape, const Shape& size, const Shape& step) {
  Boxes boxes;
  for (std::uint64_t y = 0; y < shape[0]; y += step[0]) {
    for (std::uint64_t x = 0; x < shape[1]; x += step[1]) {
      boxes.push_back({{y, x}, {std::min(size[0], shape[0] - y), std::min(size[1], shape[1] - x)}});
    }
  }
  return boxes;
}

// What is expected after each of the boxes from the second line on is what comes.
void expect_predicted(const Shape& shape, const Boxes& boxes, std::size_t line) {
  Walk walk(shape);
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    walk.observe(boxes[i]);
    EXPECT_EQ(walk.steps(), i);
    if (i <= line || i + 1 == boxes.size()) continue;
    const Boxes next = predicted(walk, 3, {1, 1});
    ASSERT_GE(next.size(), std::min<std::size_t>(3, boxes.size() - 1 - i)) << i;
    for (std::size_t j = 0; j < next.size() && i + 1 + j < boxes.size(); ++j) {
      EXPECT_EQ(next[j], boxes[i + 1 + j]) << i << ' ' << j;
    }
  }
}

TEST(Walk, TilesAreExpectedInEitherDirection) {
  const Shape shape{100, 90};
  Boxes boxes = tiles(shape, {30, 40}, {30, 40});
  expect_predicted(shape, boxes, 3);
  // Backwards, the walk begins with a box that the end of the array cuts off.
  std::ranges::reverse(boxes);
  Walk walk(shape);
  for (std::size_t i = 0; i < boxes.size(); ++i) walk.observe(boxes[i]);
  EXPECT_GT(walk.steps(), 5);
}

TEST(Walk, OverlappingTilesAreExpected) {
  expect_predicted({100, 100}, tiles({100, 100}, {32, 32}, {25, 20}), 5);
}

TEST(Walk, RowsAndSlicesAreExpected) {
  Boxes rows;
  for (std::uint64_t y = 40; y-- > 0;) rows.push_back({{y, 0}, {1, 50}});
  expect_predicted({40, 50}, rows, 1);
}

TEST(Walk, RequestsWithinAChunkAreCounted) {
  const Shape shape{100, 90};
  const Shape chunk{25, 40};
  EXPECT_EQ(observed(shape, {{{0, 0}, {1, 90}}}).requests_within(chunk), 1);
  EXPECT_EQ(observed(shape, {{{0, 0}, {1, 90}}, {{1, 0}, {1, 90}}}).requests_within(chunk), 25);
  EXPECT_EQ(observed(shape, {{{9, 0}, {1, 90}}, {{2, 0}, {1, 90}}}).requests_within(chunk), 4);
  EXPECT_EQ(observed(shape, {{{0, 0}, {30, 90}}, {{30, 0}, {30, 90}}}).requests_within(chunk), 1);
  EXPECT_EQ(observed(shape, tiles({20, 90}, {10, 10}, {10, 10})).requests_within(chunk), 12);
}

TEST(Walk, BandsOfEachTileAreALoopOfTheirOwn) {
  const Shape shape{3, 40, 40};
  Walk walk(shape);
  Boxes boxes;
  for (std::uint64_t y = 0; y < 40; y += 10) {
    for (std::uint64_t x = 0; x < 40; x += 20) {
      for (std::uint64_t band = 0; band < 3; ++band) boxes.push_back({{band, y, x}, {1, 10, 20}});
    }
  }
  for (std::size_t i = 0; i + 3 < boxes.size(); ++i) {
    walk.observe(boxes[i]);
    EXPECT_EQ(walk.steps(), i);
    if (i < 7) continue;
    const Boxes next = predicted(walk, 3, {1, 1, 1});
    EXPECT_EQ(next, (Boxes{boxes[i + 1], boxes[i + 2], boxes[i + 3]})) << i;
  }
}

TEST(Walk, BoxesOfAWarpMayDifferALittle) {
  const Walk walk = observed(
      {1000, 1000},
      {{{0, 0}, {104, 100}}, {{2, 95}, {101, 103}}, {{3, 191}, {100, 102}}, {{5, 288}, {102, 99}}});
  EXPECT_EQ(walk.steps(), 3);
  const Boxes next = predicted(walk, 1, {1, 1});
  ASSERT_EQ(next.size(), 1);
  EXPECT_EQ(next[0].start, (Shape{5, 383}));
}

TEST(Walk, AJumpEndsIt) {
  Boxes boxes{{{0, 0}, {10, 10}}, {{0, 10}, {10, 10}}, {{0, 20}, {10, 10}}};
  EXPECT_EQ(observed({100, 100}, boxes).steps(), 2);
  boxes.push_back({{70, 55}, {10, 10}});
  const Walk walk = observed({100, 100}, boxes);
  EXPECT_EQ(walk.steps(), 0);
  EXPECT_TRUE(predicted(walk, 1, {1, 1}).empty());
}

TEST(Walk, AnotherSizeEndsIt) {
  EXPECT_EQ(
      observed({100, 100}, {{{0, 0}, {10, 10}}, {{10, 0}, {10, 10}}, {{20, 0}, {20, 10}}}).steps(),
      0);
}

TEST(Walk, ARepeatedRequestChangesNothing) {
  EXPECT_EQ(observed({100}, {{{0}, {10}}, {{0}, {10}}, {{10}, {10}}, {{10}, {10}}}).steps(), 1);
}

TEST(Walk, TheNextLineIsGuessedOnlyIfAsked) {
  const Walk walk = observed({100, 30}, {{{20, 0}, {10, 10}}, {{20, 10}, {10, 10}}});
  EXPECT_EQ(predicted(walk, 9, {1, 1}), (Boxes{{{20, 20}, {10, 10}}}));
  EXPECT_EQ(predicted(walk, 3, {1, 1}, true),
            (Boxes{{{20, 20}, {10, 10}}, {{30, 0}, {10, 10}}, {{30, 10}, {10, 10}}}));
}

TEST(Walk, StepsInsideOfAChunkAreTakenTogether) {
  const Walk walk = observed({1000}, {{{0}, {1}}, {{1}, {1}}, {{2}, {1}}});
  const Boxes next = predicted(walk, 2, {100});
  ASSERT_EQ(next.size(), 2);
  EXPECT_EQ(next[0], (Box{{3}, {101}}));
  EXPECT_EQ(next[1].start, Shape{104});
}

TEST(Walk, AScanBeginsAtTheStartAndLeavesNothingOut) {
  EXPECT_TRUE(observed({100}, {{{0}, {10}}, {{10}, {10}}}).is_scan());
  EXPECT_FALSE(observed({100}, {{{10}, {10}}, {{20}, {10}}}).is_scan());
  EXPECT_FALSE(observed({100}, {{{0}, {10}}, {{20}, {10}}}).is_scan());
}

TEST(Walk, TheBoxAroundASelectionHasAllItsElements) {
  EXPECT_EQ(box_around({{20, 3}, {5, 1}, {-4, 7}}), (Box{{4, 3}, {17, 1}}));
  EXPECT_EQ(box_around({{20, 3}, {5, 2}, {}}), (Box{{20, 3}, {5, 2}}));
}

}  // namespace
}  // namespace zarrcore::test::walk_test
