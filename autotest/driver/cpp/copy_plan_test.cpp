#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "driver/multidim/copied_array.h"

namespace gdal_zarr::test::copy_plan_test {
namespace {

using zarrcore::Box;
using zarrcore::Shape;

Box whole(const Shape& shape) {
  return {std::vector<std::uint64_t>(shape.size(), 0), shape};
}

// How often slabs meet chunks of the source, counted.
double counted_reads(const Shape& shape, const Shape& source, const Shape& slab) {
  const Slabs slabs(whole(shape), slab);
  const Slabs chunks(whole(shape), source);
  std::size_t met = 0;
  for (std::size_t i = 0; i < slabs.size(); ++i) {
    for (std::size_t j = 0; j < chunks.size(); ++j) {
      met += intersection(slabs[i], chunks[j]).has_value() ? 1 : 0;
    }
  }
  return static_cast<double>(met) / static_cast<double>(chunks.size());
}

TEST(CopyPlan, SlabsAreMultiplesOfTargetChunksAndFitTheMemory) {
  const Shape shape{50, 70, 33};
  const Shape source{7, 10, 33};
  const Shape target{16, 5, 4};
  for (const std::uint64_t max_elements : {400u, 2000u, 30'000u, 1'000'000u}) {
    const auto plan = plan_copy(shape, source, target, max_elements, max_elements);
    ASSERT_TRUE(plan.has_value());
    for (std::size_t i = 0; i < shape.size(); ++i) {
      EXPECT_TRUE(plan->slab[i] == shape[i] || plan->slab[i] % target[i] == 0) << i;
    }
    EXPECT_LE(whole(plan->slab).size(), max_elements);
    EXPECT_DOUBLE_EQ(plan->reads, counted_reads(shape, source, plan->slab));
  }
}

TEST(CopyPlan, SourceChunksAreReadOnceIfTheMemoryAllows) {
  const Shape shape{240, 721, 1440};
  const auto plan = plan_copy(shape, Shape{24, 180, 360}, Shape{96, 32, 32}, 1 << 23,
                              std::uint64_t{96} * 721 * 1440);
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->slab, (Shape{96, 721, 1440}));
  EXPECT_DOUBLE_EQ(plan->reads, 1);
}

TEST(CopyPlan, SlabsAreNoLargerThanWanted) {
  const auto plan = plan_copy(Shape{1000, 1000}, Shape{10, 10}, Shape{20, 20}, 5000, 1'000'000);
  ASSERT_TRUE(plan.has_value());
  EXPECT_DOUBLE_EQ(plan->reads, 1);
  EXPECT_GE(whole(plan->slab).size(), 5000u);
  EXPECT_LE(whole(plan->slab).size(), 10'000u);
}

TEST(CopyPlan, SlabsFollowTheOrderOfTheArray) {
  const auto plan = plan_copy(Shape{1000, 1000}, Shape{20, 20}, Shape{20, 20}, 40'000, 1'000'000);
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->slab[1], 1000u);
  EXPECT_LT(whole(plan->slab).size(), 80'000u);
}

// As from pixel-interleaved images to chunks of single bands.
TEST(CopyPlan, SlabsHaveAllBandsThatAreReadTogether) {
  const auto plan =
      plan_copy(Shape{200, 5000, 5000}, Shape{200, 256, 256}, Shape{1, 512, 512}, 1 << 24, 1 << 26);
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->slab, (Shape{200, 512, 512}));
  EXPECT_DOUBLE_EQ(plan->reads, 1);
}

TEST(CopyPlan, LessMemoryReadsMore) {
  const Shape shape{1000, 200, 200};
  const Shape source{1, 200, 200};
  const Shape target{1000, 20, 20};
  double previous = 0;
  for (const std::uint64_t bands : {10u, 5u, 2u, 1u}) {
    const auto plan = plan_copy(shape, source, target, 1, 1000 * 20 * 200 * bands);
    ASSERT_TRUE(plan.has_value());
    EXPECT_DOUBLE_EQ(plan->reads, 10.0 / static_cast<double>(bands));
    EXPECT_GT(plan->reads, previous);
    previous = plan->reads;
  }
}

TEST(CopyPlan, NoPlanWhereATargetChunkDoesNotFit) {
  EXPECT_FALSE(plan_copy(Shape{100}, Shape{10}, Shape{50}, 1, 49).has_value());
  EXPECT_TRUE(plan_copy(Shape{100}, Shape{10}, Shape{50}, 1, 50).has_value());
}

TEST(CopyPlan, DimensionsWithoutChunksCostNothing) {
  const auto plan = plan_copy(Shape{1000, 1000}, Shape{0, 0}, Shape{10, 10}, 1000, 1000);
  ASSERT_TRUE(plan.has_value());
  EXPECT_DOUBLE_EQ(plan->reads, 1);
}

TEST(CopyPlan, AScalarIsOneSlab) {
  const auto plan = plan_copy(Shape{}, Shape{}, Shape{}, 1, 1);
  ASSERT_TRUE(plan.has_value());
  const Slabs slabs(whole({}), plan->slab);
  ASSERT_EQ(slabs.size(), 1u);
  EXPECT_EQ(slabs[0].size(), 1u);
}

// Neither the number of plans nor products of lengths get out of hand.
TEST(CopyPlan, ManyAndLongDimensions) {
  EXPECT_TRUE(plan_copy(Shape(32, 1000), Shape(32, 7), Shape(32, 1), 1 << 20, 1 << 20).has_value());
  EXPECT_FALSE(plan_copy(Shape(12, 1000), Shape(12, 7), Shape(12, 900), 1, 1 << 20).has_value());
  const std::uint64_t length = std::uint64_t{1} << 62;
  const auto plan = plan_copy(Shape(3, length), Shape(3, 7), Shape(3, 2), 1 << 20, 1 << 20);
  ASSERT_TRUE(plan.has_value());
  EXPECT_LE(whole(plan->slab).size(), 1u << 20);
}

struct Visited {
  std::vector<CopyRegion> regions;
  double share = 0;
};

Visited visit_regions(std::uint64_t max_elements) {
  Visited visited;
  EXPECT_TRUE(for_each_region(Shape{30, 30}, Shape{1, 30}, Shape{20, 20}, Shape{5, 20}, 1,
                              max_elements, [&](const CopyRegion& region, double share) {
                                visited.regions.push_back(region);
                                EXPECT_GT(share, visited.share);
                                visited.share = share;
                                return true;
                              }));
  EXPECT_DOUBLE_EQ(visited.share, 1);
  return visited;
}

TEST(CopyPlan, ChunksThatDoNotFitAreCopiedOneByOne) {
  const Visited together = visit_regions(600);
  ASSERT_EQ(together.regions.size(), 1u);
  EXPECT_EQ(together.regions[0].plan.slab, (Shape{20, 30}));
  for (const std::uint64_t max_elements : {300u, 50u, 1u, 0u}) {
    const Visited chunks = visit_regions(max_elements);
    ASSERT_EQ(chunks.regions.size(), 4u);
    EXPECT_EQ(chunks.regions[3].box.start, (std::vector<std::uint64_t>{20, 20}));
    EXPECT_EQ(chunks.regions[3].box.count, (Shape{10, 10}));
    EXPECT_EQ(chunks.regions[0].unit, max_elements == 300 ? (Shape{5, 20}) : (Shape{1, 1}));
    EXPECT_LE(whole(chunks.regions[0].plan.slab).size(), std::max<std::uint64_t>(1, max_elements));
  }
}

TEST(CopyPlan, SlabsDivideABox) {
  const Slabs slabs({{10, 20}, {5, 7}}, {2, 7});
  ASSERT_EQ(slabs.size(), 3u);
  std::uint64_t size = 0;
  for (std::size_t i = 0; i < slabs.size(); ++i) size += slabs[i].size();
  EXPECT_EQ(size, 35u);
  EXPECT_EQ(slabs[2].start, (std::vector<std::uint64_t>{14, 20}));
  EXPECT_EQ(slabs[2].count, (Shape{1, 7}));
  EXPECT_FALSE(intersection(slabs[0], slabs[1]).has_value());
  const auto common = intersection(slabs[1], {{13, 0}, {9, 22}});
  ASSERT_TRUE(common.has_value());
  EXPECT_EQ(common->start, (std::vector<std::uint64_t>{13, 20}));
  EXPECT_EQ(common->count, (Shape{1, 2}));
}

}  // namespace
}  // namespace gdal_zarr::test::copy_plan_test
