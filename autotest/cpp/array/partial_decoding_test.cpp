#include "zarrcore/array/partial_decoding.h"

#include <gtest/gtest.h>

namespace zarrcore::test::partial_decoding_test {
namespace {

// The rest costs as much as the whole chunk.
PartialDecoding::Costs of_part(double part) {
  return {part, 1, 1};
}

// Of how many among `count` chunks only a part is decoded; of all these, the rest is wanted later
// if `rest_is_wanted`.
int parts_among(PartialDecoding& decoding, int count, bool rest_is_wanted, double part = 0.25) {
  int parts = 0;
  for (int i = 0; i < count; ++i) {
    if (decoding.takes_whole(of_part(part))) continue;
    ++parts;
    if (rest_is_wanted) decoding.count_rest();
  }
  return parts;
}

TEST(PartialDecoding, AtFirstSmallPartsAreDecodedAndLargeOnesAsTheWholeChunk) {
  EXPECT_FALSE(PartialDecoding().takes_whole(of_part(0.4)));
  EXPECT_TRUE(PartialDecoding().takes_whole(of_part(0.6)));
  // The rest of a chunk that has blocks costs less than the whole.
  EXPECT_FALSE(PartialDecoding().takes_whole({0.6, 0.5, 1}));
}

TEST(PartialDecoding, WhatCostsAsMuchAsTheWholeChunkIsNeverDecodedInPart) {
  PartialDecoding decoding;
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(decoding.takes_whole({1, 0, 1}));
}

TEST(PartialDecoding, WhereTheRestIsWantedLaterWholeChunksAreDecoded) {
  PartialDecoding decoding;
  EXPECT_LE(parts_among(decoding, 100, true), 10);
  EXPECT_LE(parts_among(decoding, 1000, true), 50);
}

TEST(PartialDecoding, WhereItIsNotLargePartsAreDecodedAsWell) {
  PartialDecoding decoding;
  EXPECT_EQ(parts_among(decoding, 100, false), 100);
  EXPECT_FALSE(decoding.takes_whole(of_part(0.9)));
}

TEST(PartialDecoding, AProgramThatChangesIsNoticed) {
  PartialDecoding decoding;
  parts_among(decoding, 2000, true);
  parts_among(decoding, 2000, false);
  EXPECT_GE(parts_among(decoding, 100, false), 90);
  parts_among(decoding, 2000, true);
  EXPECT_LE(parts_among(decoding, 100, true), 10);
}

}  // namespace
}  // namespace zarrcore::test::partial_decoding_test
