#include <gtest/gtest.h>

#include "autotest/cpp/support/expect_error.h"
#include "autotest/cpp/support/filters.h"

namespace zarrcore::test::bitround_test {
namespace {

const DataType kFloat16{TypeKind::floating, 2};
const DataType kFloat32{TypeKind::floating, 4};

TEST(Bitround, RoundsAsNumcodecsDoes) {
  // numcodecs.BitRound(5).encode(
  //     np.array([1 / 3, np.pi, -1e30, 0, np.inf, np.nan, 3.4e38], '<f4'))
  const auto single = make_filter("numcodecs.bitround", R"({"keepbits": 5})", kFloat32);
  EXPECT_EQ(
      encoded_by(*single, from_hex("abaaaa3edb0f4940caf249f1000000000000807f0000c07f9ec97f7f")),
      from_hex("0000ac3e00004840000048f1000000000000807f0000c07f0000807f"));
  // numcodecs.BitRound(10).encode(np.array([1 / 3, np.pi, -1e30, 1.5], '<f8'))
  const auto twice = make_filter("numcodecs.bitround", R"({"keepbits": 10})", kFloat64);
  EXPECT_EQ(encoded_by(*twice, little_endian<double>({1.0 / 3, 3.141592653589793, -1e30, 1.5})),
            from_hex("000000000054d53f000000000020094000000000004029c6000000000000f83f"));
  // numcodecs.BitRound(3).encode(np.array([1 / 3, np.pi, -100, 1.0625, 1.1875], '<f2'))
  const auto half = make_filter("numcodecs.bitround", R"({"keepbits": 3})", kFloat16);
  EXPECT_EQ(
      encoded_by(*half, little_endian<std::uint16_t>({0x3555, 0x4248, 0xd640, 0x3c40, 0x3cc0})),
      from_hex("8035804200d6003c003d"));
}

TEST(Bitround, AllBitsKeptIsNoChange) {
  const Bytes numbers = regular_bytes(400);
  for (const auto& [configuration, type] : {std::pair{R"({"keepbits": 10})", kFloat16},
                                            {R"({"keepbits": 23})", kFloat32},
                                            {R"({"keepbits": 52})", kFloat64}}) {
    EXPECT_EQ(encoded_by(*make_filter("numcodecs.bitround", configuration, type), numbers),
              numbers);
  }
}

TEST(Bitround, DecodingUndoesNothing) {
  const auto filter = make_filter("numcodecs.bitround", R"({"keepbits": 1})", kFloat32);
  EXPECT_EQ(decoded_by(*filter, regular_bytes(400), 400), regular_bytes(400));
}

TEST(Bitround, WhatCannotBeEncodedCanBeDecoded) {
  const auto too_many = make_filter("numcodecs.bitround", R"({"keepbits": 24})", kFloat32);
  EXPECT_EQ(decoded_by(*too_many, regular_bytes(8), 8), regular_bytes(8));
  EXPECT_ERROR(too_many->encode(Bytes(8)), "bitround: \"keepbits\" is 24, but float32 has 23");
  const auto integers = make_filter("numcodecs.bitround", R"({"keepbits": 3})", kInt32);
  EXPECT_EQ(decoded_by(*integers, regular_bytes(8), 8), regular_bytes(8));
  EXPECT_ERROR(integers->encode(Bytes(8)), "bitround: the data type int32 cannot be rounded");
}

TEST(Bitround, RefusesANumberOfBitsThatIsNone) {
  for (const char* configuration : {"{}", R"({"keepbits": -1})", R"({"keepbits": "3"})"}) {
    EXPECT_ERROR(make_filter("numcodecs.bitround", configuration, kFloat32), "\"keepbits\" is ");
  }
}

}  // namespace
}  // namespace zarrcore::test::bitround_test
