#include "zarrcore/chunk/chunk_grid.h"

#include <gtest/gtest.h>

#include "autotest/cpp/support/expect_error.h"

namespace zarrcore::test::chunk_grid_test {
namespace {

ChunkGrid regular(const Shape& array_shape, const Shape& chunk_shape) {
  return ChunkGrid::regular(array_shape, chunk_shape);
}

TEST(ChunkGrid, TheLastChunkReachesPastTheEnd) {
  const ChunkGrid grid = regular({10, 12}, {4, 4});
  EXPECT_EQ(grid.dimension(0).chunk_count(), 3);
  EXPECT_EQ(grid.dimension(1).chunk_count(), 3);
  EXPECT_EQ(grid.chunk_shape(Shape{2, 0}), (Shape{4, 4}));
  EXPECT_EQ(grid.max_chunk_shape(), (Shape{4, 4}));
}

TEST(ChunkGrid, FindsTheChunkOfAnElement) {
  const GridDimension dimension = regular({10}, {4}).dimension(0);
  EXPECT_EQ(dimension.chunk_of(0), 0);
  EXPECT_EQ(dimension.chunk_of(3), 0);
  EXPECT_EQ(dimension.chunk_of(4), 1);
  EXPECT_EQ(dimension.chunk_of(9), 2);
  EXPECT_EQ(dimension.chunk_start(2), 8);
}

TEST(ChunkGrid, AChunkMayBeLargerThanTheArray) {
  EXPECT_EQ(regular({3}, {100}).dimension(0).chunk_count(), 1);
}

TEST(ChunkGrid, StatedLengthsBehindTheArrayAreNoChunks) {
  const std::vector<ChunkRun> runs{{5, 3}, {2, 1}};
  EXPECT_EQ(GridDimension(10, runs).chunk_count(), 2);
  EXPECT_EQ(GridDimension(16, runs).chunk_count(), 4);
  EXPECT_EQ(GridDimension(0, runs).chunk_count(), 0);
}

TEST(ChunkGrid, RankZeroIsOneChunk) {
  const ChunkGrid grid = regular({}, {});
  EXPECT_EQ(grid.rank(), 0);
  EXPECT_EQ(grid.max_chunk_shape(), Shape{});
}

TEST(ChunkGrid, LengthsOfZeroHaveNoChunks) {
  EXPECT_EQ(regular({0, 5}, {0, 5}).dimension(0).chunk_count(), 0);
  EXPECT_EQ(regular({0, 5}, {3, 5}).dimension(0).chunk_count(), 0);
}

TEST(ChunkGrid, LengthsPast32BitsCount) {
  const GridDimension dimension = regular({std::uint64_t{1} << 40}, {1000}).dimension(0);
  EXPECT_EQ(dimension.chunk_count(), 1099511628);
  EXPECT_EQ(dimension.chunk_of((std::uint64_t{1} << 40) - 1), 1099511627);
  EXPECT_EQ(regular({UINT64_MAX}, {UINT64_MAX}).dimension(0).chunk_count(), 1);
}

TEST(ChunkGrid, RefusesRanksThatDiffer) {
  EXPECT_ERROR(regular({10, 10}, {5}), "the chunk shape has 1 dimensions, the array 2");
}

TEST(ChunkGrid, RefusesAChunkWithoutLength) {
  EXPECT_ERROR(regular({5, 10}, {5, 0}), "the chunk shape is zero in dimension 1");
}

TEST(ChunkGrid, RefusesMoreChunksThanCanBeCounted) {
  const std::uint64_t length = std::uint64_t{1} << 32;
  EXPECT_ERROR(regular({length, length}, {1, 1}), "more than 2^63 chunks");
  EXPECT_ERROR(regular({length, length / 2, 2}, {1, 1, 1}), "more than 2^63 chunks");
  EXPECT_NO_THROW(regular({length, length / 2}, {1, 1}));
}

}  // namespace
}  // namespace zarrcore::test::chunk_grid_test
