#include "autotest/cpp/support/bytes.h"

#include <gtest/gtest.h>

#include "autotest/cpp/support/codecs.h"
#include "autotest/cpp/support/expect_error.h"

namespace zarrcore::test::bytes_test {
namespace {

constexpr const char* kLittle = R"({"endian": "little"})";
constexpr const char* kBig = R"({"endian": "big"})";

std::unique_ptr<const ArrayToBytesCodec> make_bytes_codec(std::string_view configuration,
                                                          const ChunkSpec& spec) {
  return std::get<std::unique_ptr<const ArrayToBytesCodec>>(
      make_codec("bytes", configuration, spec));
}

Bytes decoded(const ArrayToBytesCodec& codec, const Bytes& encoded, std::size_t size) {
  Bytes chunk(size);
  Arena arena;
  codec.decode(encoded, chunk, arena);
  return chunk;
}

TEST(BytesCodec, StoresElementsInTheStatedOrder) {
  const Bytes chunk = [] {
    Bytes bytes = bytes_in_memory(std::int16_t{0x0102});
    const Bytes second = bytes_in_memory(std::int16_t{0x0304});
    bytes.insert(bytes.end(), second.begin(), second.end());
    return bytes;
  }();
  const ChunkSpec spec = spec_of({2}, kInt16);
  const auto little = make_bytes_codec(kLittle, spec);
  const auto big = make_bytes_codec(kBig, spec);
  EXPECT_EQ(to_bytes(little->encode(chunk).span()), bytes_of({2, 1, 4, 3}));
  EXPECT_EQ(to_bytes(big->encode(chunk).span()), bytes_of({1, 2, 3, 4}));
  EXPECT_EQ(decoded(*little, bytes_of({2, 1, 4, 3}), 4), chunk);
  EXPECT_EQ(decoded(*big, bytes_of({1, 2, 3, 4}), 4), chunk);
}

TEST(BytesCodec, ComplexNumbersAreSwappedPartByPart) {
  const auto codec = make_bytes_codec(kBig, spec_of({1}, {TypeKind::complex, 8}));
  const Bytes real = bytes_in_memory(1.5F);
  const Bytes imaginary = bytes_in_memory(-2.0F);
  Bytes chunk = real;
  chunk.insert(chunk.end(), imaginary.begin(), imaginary.end());
  EXPECT_EQ(to_bytes(codec->encode(chunk).span()), from_hex("3fc00000c0000000"));
}

TEST(BytesCodec, BytesWithoutOrderNeedNoneStated) {
  for (const DataType& type : {kUint8, DataType{TypeKind::boolean, 1}, DataType{TypeKind::raw, 3},
                               DataType{TypeKind::fixed_bytes, 6}}) {
    EXPECT_NO_THROW(make_bytes_codec("{}", spec_of({2}, type)));
    const auto codec = make_bytes_codec(kBig, spec_of({1}, type));
    const Bytes bytes = regular_bytes(type.item_size);
    EXPECT_EQ(to_bytes(codec->encode(bytes).span()), bytes);
  }
}

TEST(BytesCodec, TextMayStandWithoutAnOrderAndIsLittleEndian) {
  const auto codec = make_bytes_codec("{}", spec_of({1}, {TypeKind::fixed_utf32, 4}));
  EXPECT_EQ(to_bytes(codec->encode(bytes_in_memory(std::uint32_t{0x1f30d})).span()),
            from_hex("0df30100"));
}

TEST(BytesCodec, NumbersWithoutAnOrderAreLittleEndianAndSayThatThisIsAssumed) {
  for (const char* configuration : {"{}", R"({"endian": null})"}) {
    const auto codec = make_bytes_codec(configuration, spec_of({1}, kInt16));
    EXPECT_EQ(to_bytes(codec->encode(bytes_in_memory(std::int16_t{258})).span()), from_hex("0201"));
    EXPECT_TRUE(codec->assumes_byte_order());
  }
  EXPECT_FALSE(make_bytes_codec(kBig, spec_of({1}, kInt16))->assumes_byte_order());
  EXPECT_FALSE(make_bytes_codec("{}", spec_of({1}, kUint8))->assumes_byte_order());
}

TEST(BytesCodec, RefusesAnOrderThatIsNone) {
  EXPECT_ERROR(make_bytes_codec(R"({"endian": "middle"})", spec_of({2}, kInt16)),
               "\"endian\" is \"middle\"");
  EXPECT_ERROR(make_bytes_codec(R"({"endian": 1})", spec_of({2}, kInt16)), "\"endian\" is 1");
}

TEST(BytesCodec, AnotherSizeThanTheChunksIsAnError) {
  const auto codec = make_bytes_codec(kLittle, spec_of({2}, kInt16));
  EXPECT_ERROR(decoded(*codec, Bytes(3), 4), "the chunk has 3 bytes where 4 are expected");
  EXPECT_ERROR(decoded(*codec, Bytes(5), 4), "the chunk has 5 bytes where 4 are expected");
  EXPECT_EQ(codec->encoded_size(), 4);
}

TEST(BytesCodec, AnEmptyChunkHasNoBytes) {
  const auto codec = make_bytes_codec(kLittle, spec_of({0, 3}, kInt16));
  EXPECT_EQ(codec->encode({}).size(), 0);
  EXPECT_EQ(decoded(*codec, {}, 0), Bytes{});
}

}  // namespace
}  // namespace zarrcore::test::bytes_test
