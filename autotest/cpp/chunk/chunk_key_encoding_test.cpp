#include "zarrcore/chunk/chunk_key_encoding.h"

#include <gtest/gtest.h>

#include <vector>

namespace zarrcore::test::chunk_key_encoding_test {
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

TEST(ChunkKeyEncoding, KeysCanBeBelowAPath) {
  const ChunkKeyEncoding normal{Kind::default_, '/'};
  EXPECT_EQ(normal.encode(Chunk{1, 2}, "group/array"), "group/array/c/1/2");
  EXPECT_EQ(normal.encode(Chunk{}, "array"), "array/c");
  const ChunkKeyEncoding draft{Kind::draft, '/'};
  EXPECT_EQ(draft.encode(Chunk{1, 2}, "array"), "array/c1/2");
  EXPECT_EQ(draft.encode(Chunk{}, "array"), "array/c0");
}

TEST(ChunkKeyEncoding, CoordinatesKeepAllDigits) {
  const ChunkKeyEncoding encoding{Kind::default_, '/'};
  EXPECT_EQ(encoding.encode(Chunk{UINT64_MAX}), "c/18446744073709551615");
}

TEST(ChunkKeyEncoding, DecodesWhatItEncodes) {
  for (const Kind kind : {Kind::default_, Kind::v2, Kind::draft, Kind::n5}) {
    for (const char separator : {'/', '.'}) {
      const ChunkKeyEncoding encoding{kind, separator};
      for (const Chunk& chunk :
           {Chunk{}, Chunk{0}, Chunk{7, 0, 12}, Chunk{UINT64_MAX, 1}, Chunk{10, 200}}) {
        EXPECT_EQ(encoding.decode(encoding.encode(chunk), chunk.size()), chunk);
        EXPECT_EQ(encoding.decode(encoding.encode(chunk), chunk.size() + 2), std::nullopt);
      }
    }
  }
}

TEST(ChunkKeyEncoding, WhatIsNoKeyIsNotDecoded) {
  for (const char* name :
       {"", "c", "c/", "c/1", "c/1/", "c/1/2/3", "c/01/2", "c/+1/2", "c/-1/2", "c/1/2 ", "c/1.2",
        "1/2", "cc/1/2", "c1/2", "c/1/18446744073709551616", "zarr.json", "c/1/x"}) {
    EXPECT_EQ((ChunkKeyEncoding{Kind::default_, '/'}.decode(name, 2)), std::nullopt) << name;
  }
  for (const char* name : {".zarray", "1", "1.2.3", "1/2", "1.2.", ".1.2", "c1.2", "1.02"}) {
    EXPECT_EQ((ChunkKeyEncoding{Kind::v2, '.'}.decode(name, 2)), std::nullopt) << name;
  }
  for (const char* name : {"c/1/2", "1/2", "c1", "c1/", "c1/2/"}) {
    EXPECT_EQ((ChunkKeyEncoding{Kind::draft, '/'}.decode(name, 2)), std::nullopt) << name;
  }
}

}  // namespace
}  // namespace zarrcore::test::chunk_key_encoding_test
