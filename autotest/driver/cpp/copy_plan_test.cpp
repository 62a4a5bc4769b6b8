#include "driver/multidim/copy_plan.h"

#include <gtest/gtest.h>

#include <numeric>

namespace gdal_zarr {
namespace {

using zarrcore::Shape;

// How often source chunks are met by slabs, counted.
double counted_reads(const Shape& shape, const Shape& source, const Shape& slab) {
  std::size_t met = 0;
  const std::vector<Box> chunks = divide(shape, source);
  for (const Box& box : divide(shape, slab)) {
    for (const Box& chunk : chunks) met += intersection(box, chunk).has_value() ? 1 : 0;
  }
  return static_cast<double>(met) / static_cast<double>(chunks.size());
}

TEST(CopyPlan, SlabsAreMultiplesOfTargetChunksAndFitTheMemory) {
  const Shape shape{50, 70, 33};
  const Shape source{7, 10, 33};
  const Shape target{16, 5, 4};
  for (const std::uint64_t max_elements : {400u, 2000u, 30'000u, 1'000'000u}) {
    const auto plan = plan_copy(shape, source, target, max_elements);
    ASSERT_TRUE(plan.has_value());
    std::uint64_t size = 1;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      EXPECT_TRUE(plan->slab[i] == shape[i] || plan->slab[i] % target[i] == 0) << i;
      size *= plan->slab[i];
    }
    EXPECT_LE(size, max_elements);
    EXPECT_DOUBLE_EQ(plan->reads, counted_reads(shape, source, plan->slab));
  }
}

TEST(CopyPlan, SourceChunksAreReadOnceIfTheMemoryAllows) {
  // Slabs of whole rows of chunks along the first dimension, where both ends agree.
  const auto plan = plan_copy(Shape{240, 721, 1440}, Shape{24, 180, 360}, Shape{96, 32, 32},
                              std::uint64_t{96} * 721 * 1440);
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->slab, (Shape{96, 721, 1440}));
  EXPECT_DOUBLE_EQ(plan->reads, 1);
}

TEST(CopyPlan, LessMemoryReadsMore) {
  const Shape shape{1000, 200, 200};
  const Shape source{1, 200, 200};
  const Shape target{1000, 20, 20};
  double previous = 0;
  for (const std::uint64_t bands : {10u, 5u, 2u, 1u}) {
    const auto plan = plan_copy(shape, source, target, 1000 * 20 * 200 * bands);
    ASSERT_TRUE(plan.has_value());
    EXPECT_DOUBLE_EQ(plan->reads, 10.0 / bands);
    EXPECT_GT(plan->reads, previous);
    previous = plan->reads;
  }
}

TEST(CopyPlan, NoPlanWhereATargetChunkDoesNotFit) {
  EXPECT_FALSE(plan_copy(Shape{100}, Shape{10}, Shape{50}, 49).has_value());
  EXPECT_TRUE(plan_copy(Shape{100}, Shape{10}, Shape{50}, 50).has_value());
}

TEST(CopyPlan, DimensionsWithoutChunksCostNothing) {
  const auto plan = plan_copy(Shape{1000, 1000}, Shape{0, 0}, Shape{10, 10}, 1000);
  ASSERT_TRUE(plan.has_value());
  EXPECT_DOUBLE_EQ(plan->reads, 1);
}

TEST(CopyPlan, ManyDimensionsArePlannedSoon) {
  const Shape shape(12, 1000);
  const auto plan = plan_copy(shape, Shape(12, 7), Shape(12, 2), 1 << 20);
  ASSERT_TRUE(plan.has_value());
}

TEST(CopyPlan, BoxesDivideTheArray) {
  const Shape shape{5, 7};
  const std::vector<Box> boxes = divide(shape, Shape{2, 7});
  ASSERT_EQ(boxes.size(), 3u);
  EXPECT_EQ(boxes[2].start, (std::vector<std::uint64_t>{4, 0}));
  EXPECT_EQ(boxes[2].count, (Shape{1, 7}));
  EXPECT_EQ(std::accumulate(boxes.begin(), boxes.end(), std::uint64_t{0},
                            [](std::uint64_t sum, const Box& box) { return sum + box.size(); }),
            35u);
  EXPECT_FALSE(intersection(boxes[0], boxes[1]).has_value());
}

}  // namespace
}  // namespace gdal_zarr
