#include <gtest/gtest.h>

#include "autotest/cpp/support/array_codecs.h"
#include "autotest/cpp/support/expect_error.h"
#include "zarrcore/dtype/data_type.h"

namespace zarrcore::test::packbits_test {
namespace {

const DataType kBool{TypeKind::boolean, 1};
const DataType kInt4{TypeKind::signed_integer, 1, 4};

auto make_packbits(std::string_view configuration, const Shape& shape, const DataType& type) {
  return make_array_to_bytes("packbits", configuration, spec_of(shape, type));
}

void expect_pair(const ArrayToBytesCodec& codec, const Bytes& decoded, std::string_view encoded) {
  EXPECT_EQ(encoded_by(codec, decoded), from_hex(encoded));
  EXPECT_EQ(decoded_by(codec, from_hex(encoded), decoded.size()), decoded);
  EXPECT_EQ(codec.encoded_size(), encoded.size() / 2);
}

TEST(Packbits, BooleansAreBitsFromTheLeastSignificant) {
  // np.packbits([1, 0, 1, 1, 0, 0, 0, 0, 1, 1], bitorder='little')
  expect_pair(*make_packbits("{}", {10}, kBool), bytes_of({1, 0, 1, 1, 0, 0, 0, 0, 1, 1}), "0d03");
}

TEST(Packbits, ThePaddingByteStandsWhereItIsWanted) {
  const Bytes bits = bytes_of({1, 0, 1, 1, 0, 0, 0, 0, 1, 1});
  expect_pair(*make_packbits(R"({"padding_encoding": "first_byte"})", {10}, kBool), bits, "060d03");
  expect_pair(*make_packbits(R"({"padding_encoding": "last_byte"})", {10}, kBool), bits, "0d0306");
  expect_pair(*make_packbits(R"({"padding_encoding": "none"})", {10}, kBool), bits, "0d03");
  expect_pair(*make_packbits(R"({"padding_encoding": "first_byte"})", {8}, kBool),
              bytes_of({1, 1, 1, 1, 1, 1, 1, 1}), "00ff");
}

TEST(Packbits, NarrowIntegersKeepTheirSign) {
  expect_pair(*make_packbits("{}", {3}, kInt4), elements<std::int8_t>({-8, 7, -1}), "780f");
  expect_pair(*make_packbits("{}", {4}, {TypeKind::signed_integer, 1, 2}),
              elements<std::int8_t>({-2, -1, 0, 1}), "4e");
  expect_pair(*make_packbits("{}", {2}, {TypeKind::unsigned_integer, 1, 4}), bytes_of({15, 1}),
              "1f");
  expect_pair(*make_packbits("{}", {4}, {TypeKind::unsigned_integer, 1, 2}), bytes_of({0, 1, 2, 3}),
              "e4");
}

TEST(Packbits, ARangeOfBitsIsEnoughForNumbersThatFit) {
  expect_pair(*make_packbits(R"({"last_bit": 11})", {3}, kInt16),
              elements<std::int16_t>({-1, 0x123, -2048}),
              "ff3f1200"
              "08");
  expect_pair(*make_packbits(R"({"first_bit": 4, "last_bit": 11})", {2}, kUint16),
              elements<std::uint16_t>({0x0ab0, 0x0120}), "ab12");
  // What is not stored is lost.
  const auto codec = make_packbits(R"({"first_bit": 4, "last_bit": 7})", {1}, kUint8);
  EXPECT_EQ(encoded_by(*codec, bytes_of({0xab})), bytes_of({0x0a}));
  EXPECT_EQ(decoded_by(*codec, bytes_of({0x0a}), 1), bytes_of({0xa0}));
}

TEST(Packbits, WholeNumbersAreLittleEndian) {
  expect_pair(*make_packbits("{}", {1}, kUint64), elements<std::uint64_t>({0x0102030405060708}),
              "0807060504030201");
  expect_pair(*make_packbits("{}", {1}, kFloat32), elements<float>({1.5F}), "0000c03f");
  expect_pair(*make_packbits("{}", {1}, {TypeKind::complex, 8}), elements<float>({1.5F, -2.0F}),
              "0000c03f000000c0");
}

TEST(Packbits, SmallFloatsTakeTheBitsThatTheyHave) {
  const DataType float6{TypeKind::floating, 1, 0, FloatFormat::float6_e2m3fn};
  expect_pair(*make_packbits("{}", {4}, float6), bytes_of({0x3f, 0, 0x21, 1}), "3f1006");
  const DataType float4{TypeKind::floating, 1, 0, FloatFormat::float4_e2m1fn};
  expect_pair(*make_packbits("{}", {3}, float4), bytes_of({1, 2, 15}), "210f");
  const DataType complex4{TypeKind::complex, 2, 0, FloatFormat::float4_e2m1fn};
  expect_pair(*make_packbits("{}", {2}, complex4), bytes_of({1, 2, 15, 4}), "214f");
}

TEST(Packbits, RoundTripsAllSizesAndWidths) {
  Random random(22);
  for (const std::size_t count : {0, 1, 2, 3, 7, 8, 9, 1001, 100003}) {
    for (int last = 0; last < 64; last += count > 1000 ? 13 : 1) {
      const std::string configuration =
          R"({"last_bit": )" + std::to_string(last) + R"(, "padding_encoding": "last_byte"})";
      const auto codec = make_packbits(configuration, {count}, kUint64);
      std::vector<std::uint64_t> numbers(count);
      for (std::uint64_t& number : numbers) number = random() >> (63 - last);
      const Bytes encoded = encoded_by(*codec, elements(numbers));
      EXPECT_EQ(encoded.size(), (count * (last + 1) + 7) / 8 + 1);
      EXPECT_EQ(values_of<std::uint64_t>(decoded_by(*codec, encoded, count * 8)), numbers);
    }
  }
}

TEST(Packbits, OtherSizesAndPaddingsAreErrors) {
  const auto codec = make_packbits(R"({"padding_encoding": "first_byte"})", {10}, kBool);
  EXPECT_ERROR(decoded_by(*codec, from_hex("060d"), 10),
               "the chunk has 2 bytes where 3 are expected");
  EXPECT_ERROR(decoded_by(*codec, from_hex("060d0300"), 10), "has 4 bytes where 3 are expected");
  EXPECT_ERROR(decoded_by(*codec, {}, 10), "has 0 bytes where 3 are expected");
  EXPECT_ERROR(decoded_by(*codec, from_hex("050d03"), 10),
               "the chunk states 5 bits of padding where 6 are expected");
}

TEST(Packbits, BitsOfPaddingDoNotMatter) {
  EXPECT_EQ(decoded_by(*make_packbits("{}", {1}, kBool), from_hex("ff"), 1), bytes_of({1}));
}

TEST(Packbits, RefusesConfigurationsThatAreNone) {
  EXPECT_ERROR(make_packbits(R"({"last_bit": 16})", {1}, kInt16), "the bits 0 to 16", "int16");
  EXPECT_ERROR(make_packbits(R"({"last_bit": 4})", {1}, kInt4), "the bits 0 to 4", "int4");
  EXPECT_ERROR(make_packbits(R"({"first_bit": -1})", {1}, kInt16), "the bits -1 to 15");
  EXPECT_ERROR(make_packbits(R"({"first_bit": 5, "last_bit": 4})", {1}, kInt16), "the bits 5 to 4");
  EXPECT_ERROR(make_packbits(R"({"padding_encoding": "start"})", {1}, kBool),
               "\"padding_encoding\" is \"start\"");
  EXPECT_ERROR(make_packbits("{}", {1}, kString), "string");
  EXPECT_ERROR(make_packbits("{}", {1}, {TypeKind::raw, 3}), "r24");
}

}  // namespace
}  // namespace zarrcore::test::packbits_test
