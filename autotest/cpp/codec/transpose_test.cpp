#include <gtest/gtest.h>

#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/codecs.h"
#include "autotest/cpp/support/expect_error.h"
#include "autotest/cpp/support/layout.h"

namespace zarrcore::test::transpose_test {
namespace {

std::unique_ptr<const ArrayToArrayCodec> make_transpose_codec(std::string_view order,
                                                              const ChunkSpec& spec) {
  return std::get<std::unique_ptr<const ArrayToArrayCodec>>(
      make_codec("transpose", R"({"order": )" + std::string(order) + "}", spec));
}

TEST(Transpose, EncodedDimensionIIsDecodedDimensionOrderI) {
  const Shape shape{2, 3, 4};
  const auto codec = make_transpose_codec("[1, 2, 0]", spec_of(shape));
  const Shape encoded_shape{3, 4, 2};
  EXPECT_EQ(codec->encoded_spec().shape, encoded_shape);
  Random random(10);
  const Bytes chunk = random_bytes(random, 24);
  Bytes encoded(24);
  codec->encode(chunk, encoded);
  for_each_index(encoded_shape, [&](const Shape& index) {
    const Shape decoded_index{index[2], index[0], index[1]};
    EXPECT_EQ(encoded[offset_of(index, c_strides(encoded_shape, 1))],
              chunk[offset_of(decoded_index, c_strides(shape, 1))]);
  });
  Bytes decoded(24);
  codec->decode(encoded, decoded);
  EXPECT_EQ(decoded, chunk);
}

TEST(Transpose, OlderSpellingsOfTheOrder) {
  using Order = std::vector<std::size_t>;
  EXPECT_EQ(*make_transpose_codec("\"F\"", spec_of({2, 3, 4}))->axis_order(), (Order{2, 1, 0}));
  EXPECT_EQ(*make_transpose_codec("\"C\"", spec_of({2, 3, 4}))->axis_order(), (Order{0, 1, 2}));
}

TEST(Transpose, RankZeroHasNothingToReorder) {
  EXPECT_EQ(make_transpose_codec("[]", spec_of({}))->encoded_spec().shape, Shape{});
}

TEST(Transpose, RefusesWhatIsNoPermutation) {
  const ChunkSpec spec = spec_of({2, 3});
  for (const char* order : {"[0, 0]", "[1, 2]", "[2, 1]"}) {
    EXPECT_ERROR(make_transpose_codec(order, spec), "\"order\" is [", "not a permutation");
  }
  EXPECT_ERROR(make_transpose_codec("[0]", spec), "\"order\" has 1 dimensions, the array 2");
  EXPECT_ERROR(make_transpose_codec("[0, -1]", spec), "\"order\" is -1");
  EXPECT_ERROR(make_transpose_codec("\"K\"", spec), "\"order\" is a string");
  EXPECT_ERROR(make_transpose_codec("null", spec), "\"order\" is null");
  EXPECT_ERROR(make_codec("transpose", "{}", spec), "\"order\" is missing");
}

}  // namespace
}  // namespace zarrcore::test::transpose_test
