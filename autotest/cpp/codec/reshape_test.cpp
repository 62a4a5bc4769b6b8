#include <gtest/gtest.h>

#include "autotest/cpp/support/array_codecs.h"
#include "autotest/cpp/support/expect_error.h"

namespace zarrcore::test::reshape_test {
namespace {

auto make_reshape(std::string_view shape, const ChunkSpec& spec) {
  return make_array_to_array("reshape", R"({"shape": )" + std::string(shape) + "}", spec);
}

Shape reshaped(std::string_view shape, const Shape& decoded) {
  return make_reshape(shape, spec_of(decoded))->encoded_spec().shape;
}

TEST(Reshape, ItemsAreLengthsTheRestOrProductsOfDimensions) {
  EXPECT_EQ(reshaped("[-1]", {2, 3, 4}), (Shape{24}));
  EXPECT_EQ(reshaped("[4, 6]", {2, 3, 4}), (Shape{4, 6}));
  EXPECT_EQ(reshaped("[4, -1]", {2, 3, 4}), (Shape{4, 6}));
  EXPECT_EQ(reshaped("[[0, 1], [2]]", {2, 3, 4}), (Shape{6, 4}));
  EXPECT_EQ(reshaped("[[0], -1, 2]", {2, 3, 4}), (Shape{2, 6, 2}));
  EXPECT_EQ(reshaped("[[0, 1, 2], 1, -1]", {2, 3, 4}), (Shape{24, 1, 1}));
}

TEST(Reshape, ScalarsAndEmptyChunksHaveShapesToo) {
  EXPECT_EQ(reshaped("[]", {}), Shape{});
  EXPECT_EQ(reshaped("[]", {1, 1}), Shape{});
  EXPECT_EQ(reshaped("[-1]", {}), Shape{1});
  EXPECT_EQ(reshaped("[-1]", {0, 5}), Shape{0});
  EXPECT_EQ(reshaped("[[1], -1]", {0, 5}), (Shape{5, 0}));
  EXPECT_EQ(reshaped("[0, -1]", {0, 5}), (Shape{0, 0}));
}

TEST(Reshape, ElementsKeepTheirOrderAndTypeAndFillValue) {
  ChunkSpec spec = spec_of({3, 5}, kInt16);
  spec.fill_value = elements<std::int16_t>({-7});
  const auto codec = make_reshape("[5, 3]", spec);
  EXPECT_EQ(codec->encoded_spec().data_type, kInt16);
  EXPECT_EQ(codec->encoded_spec().fill_value, spec.fill_value);
  const Bytes chunk = regular_bytes(30);
  EXPECT_EQ(encoded_by(*codec, chunk), chunk);
  EXPECT_EQ(decoded_by(*codec, chunk, 30), chunk);
}

TEST(Reshape, StandsInChainsBeforeAndBehindATranspose) {
  const CodecChain chain = make_chain(R"([
      {"name": "transpose", "configuration": {"order": [1, 0]}},
      {"name": "reshape", "configuration": {"shape": [-1]}},
      {"name": "reshape", "configuration": {"shape": [2, 3]}},
      {"name": "transpose", "configuration": {"order": [1, 0]}}, "bytes"])",
                                      spec_of({2, 3}));
  // In stored order, which the first transpose makes: 3 × 2.
  const Bytes stored = bytes_of({1, 2, 3, 4, 5, 6});
  const Buffer encoded = chain.encode(stored);
  EXPECT_EQ(to_bytes(encoded.span()), bytes_of({1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(to_bytes(chain.decode(encoded.span()).elements.span()), stored);
}

TEST(Reshape, RefusesShapesThatDoNotHoldTheElements) {
  for (const char* shape : {"[5]", "[25]", "[7, -1]", "[]", "[0, -1]", "[[0], [1]]",
                            "[4294967296, 4294967296]", "[18446744073709551615, 24]"}) {
    EXPECT_ERROR(reshaped(shape, {2, 3, 4}), "which does not hold chunks of the shape [2,3,4]")
        << shape;
  }
}

TEST(Reshape, RefusesShapesThatAreNone) {
  EXPECT_ERROR(reshaped("[-1, -1]", {2}), "-1 more than once");
  EXPECT_ERROR(reshaped("[-2]", {2}), "an item of \"shape\" is -2");
  EXPECT_ERROR(reshaped("[2.0]", {2}), "an item of \"shape\" is");
  EXPECT_ERROR(reshaped("[[1]]", {2}), "\"shape\" names dimension 1, the array has 1");
  EXPECT_ERROR(reshaped("[[-1]]", {2}), "is -1, which is negative");
  EXPECT_ERROR(reshaped("2", {2}), "\"shape\" is an integer where a list is expected");
  EXPECT_ERROR(make_codec("reshape", "{}", spec_of({2})), "\"shape\" is missing");
}

}  // namespace
}  // namespace zarrcore::test::reshape_test
