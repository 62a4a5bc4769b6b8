#include "zarrcore/chunk/chunk_key_encoding.h"

#include <gtest/gtest.h>

#include <vector>

namespace zarrcore::test {
namespace {

using Kind = ChunkKeyEncoding::Kind;
using Chunk = std::vector<std::uint64_t>;

TEST(ChunkKeyEncoding, TheDefaultStartsWithC) {
  const ChunkKeyEncoding slash{Kind::default_, '/'};
  EXPECT_EQ(slash.encode(Chunk{1, 23, 45}), "c/1/23/45");
  const ChunkKeyEncoding dot{Kind::default_, '.'};
  EXPECT_EQ(dot.encode(Chunk{1, 23, 45}), "c.1.23.45");
}

TEST(ChunkKeyEncoding, V2IsTheCoordinatesAlone) {
  const ChunkKeyEncoding dot{Kind::v2, '.'};
  EXPECT_EQ(dot.encode(Chunk{1, 23, 45}), "1.23.45");
  EXPECT_EQ(dot.encode(Chunk{7}), "7");
  const ChunkKeyEncoding slash{Kind::v2, '/'};
  EXPECT_EQ(slash.encode(Chunk{1, 23, 45}), "1/23/45");
}

TEST(ChunkKeyEncoding, RankZeroHasOneKey) {
  const ChunkKeyEncoding normal{Kind::default_, '/'};
  EXPECT_EQ(normal.encode(Chunk{}), "c");
  const ChunkKeyEncoding v2{Kind::v2, '.'};
  EXPECT_EQ(v2.encode(Chunk{}), "0");
}

TEST(ChunkKeyEncoding, CoordinatesKeepAllDigits) {
  const ChunkKeyEncoding encoding{Kind::default_, '/'};
  EXPECT_EQ(encoding.encode(Chunk{UINT64_MAX}), "c/18446744073709551615");
}

}  // namespace
}  // namespace zarrcore::test
