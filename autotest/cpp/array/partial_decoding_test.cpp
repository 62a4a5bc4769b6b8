// How many bytes of chunks are decoded, of which a program uses parts.
#include <gtest/gtest.h>

#include "autotest/cpp/support/layout.h"
#include "autotest/cpp/support/stored_array.h"
#include "zarrcore/array/access_pattern.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::test::partial_decoding_test {
namespace {

// Requests of an array, each of which needs a part of one chunk.
class PartialDecoding : public testing::Test {
 protected:
  using Costs = AccessPattern::Request::DecodingCosts;

  PartialDecoding() {
    write_array(*store_, "", array_document({4}, {2}, "\"uint8\"", codec_list({bytes_codec()})),
                Bytes(4));
    open_again();
  }

  // Nothing is known of the requests then.
  void open_again() { array_ = open_array(store_); }

  // The rest costs as much as the whole chunk.
  static Costs of_part(double part) { return {part, 1, 1}; }

  bool takes_whole(const Costs& costs, bool rest_is_wanted = false) const {
    AccessPattern::Request request(*array_->state().pattern, {{0}, {1}, {}}, {});
    const bool is_whole = request.decodes_whole(costs);
    if (!is_whole && rest_is_wanted) request.count_rest();
    return is_whole;
  }

  // Of how many among `count` chunks only a part is decoded; of all these, the rest is wanted later
  // if `rest_is_wanted`.
  int parts_among(int count, bool rest_is_wanted, double part = 0.25) const {
    int parts = 0;
    for (int i = 0; i < count; ++i) parts += takes_whole(of_part(part), rest_is_wanted) ? 0 : 1;
    return parts;
  }

  std::shared_ptr<MemoryStore> store_ = std::make_shared<MemoryStore>();
  std::shared_ptr<const Array> array_;
};

TEST_F(PartialDecoding, AtFirstSmallPartsAreDecodedAndLargeOnesAsTheWholeChunk) {
  EXPECT_FALSE(takes_whole(of_part(0.4)));
  open_again();
  EXPECT_TRUE(takes_whole(of_part(0.6)));
  // The rest of a chunk that has blocks costs less than the whole.
  EXPECT_FALSE(takes_whole(Costs{0.6, 0.5, 1}));
}

TEST_F(PartialDecoding, WhatCostsAsMuchAsTheWholeChunkIsNeverDecodedInPart) {
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(takes_whole({1, 0, 1}));
}

TEST_F(PartialDecoding, WhereTheRestIsWantedLaterWholeChunksAreDecoded) {
  EXPECT_LE(parts_among(100, true), 10);
  EXPECT_LE(parts_among(1000, true), 50);
}

TEST_F(PartialDecoding, WhereItIsNotLargePartsAreDecodedAsWell) {
  EXPECT_EQ(parts_among(100, false), 100);
  EXPECT_FALSE(takes_whole(of_part(0.9)));
}

TEST_F(PartialDecoding, AProgramThatChangesIsNoticed) {
  parts_among(2000, true);
  parts_among(2000, false);
  EXPECT_GE(parts_among(100, false), 90);
  parts_among(2000, true);
  EXPECT_LE(parts_among(100, true), 10);
}

}  // namespace
}  // namespace zarrcore::test::partial_decoding_test
