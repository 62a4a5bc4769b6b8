#include <gtest/gtest.h>

#include "autotest/cpp/support/array_codecs.h"
#include "autotest/cpp/support/expect_error.h"

namespace zarrcore::test::vlen_test {
namespace {

using Texts = std::vector<std::string>;
using namespace std::string_literals;

// VLenUTF8().encode(np.array(['a', '', 'bé', '\U0001f30d'], dtype=object))
constexpr const char* kFromNumcodecs = "040000000100000061000000000300000062c3a904000000f09f8c8d";
const Texts kTexts{"a", "", "b\xc3\xa9", "\xf0\x9f\x8c\x8d"};

auto make_utf8(std::uint64_t count) {
  return make_array_to_bytes("vlen-utf8", "{}", spec_of({count}, kString));
}
auto make_bytes(std::uint64_t count) {
  return make_array_to_bytes("vlen-bytes", "{}", spec_of({count}, kBytes));
}

TEST(Vlen, ReadsAndWritesWhatNumcodecsWrites) {
  const auto codec = make_utf8(4);
  EXPECT_EQ(texts_by(*codec, from_hex(kFromNumcodecs), 4), kTexts);
  EXPECT_EQ(encoded_by(*codec, elements(kTexts)), from_hex(kFromNumcodecs));
  // VLenBytes().encode(np.array([b'a', b'', b'\xff\x00'], dtype=object))
  const Bytes bytes = from_hex("0300000001000000610000000002000000ff00");
  EXPECT_EQ(texts_by(*make_bytes(3), bytes, 3), (Texts{"a", "", "\xff\0"s}));
  EXPECT_EQ(encoded_by(*make_bytes(3), elements(Texts{"a", "", "\xff\0"s})), bytes);
}

TEST(Vlen, RoundTripsAllSizes) {
  Random random(20);
  for (const std::size_t count : {0, 1, 7, 1000, 50001}) {
    Texts texts(count);
    for (std::string& text : texts) text.assign(random_number(random, 0, 30), 'x');
    const auto codec = make_bytes(count);
    const Bytes encoded = encoded_by(*codec, elements(texts));
    EXPECT_LE(encoded.size(), codec->max_encoded_size());
    EXPECT_EQ(texts_by(*codec, encoded, count), texts);
  }
  const Texts large{std::string(5'000'000, 'y'), "z"};
  EXPECT_EQ(texts_by(*make_utf8(2), encoded_by(*make_utf8(2), elements(large)), 2), large);
}

TEST(Vlen, AnEmptyChunkHasItsCountAlone) {
  EXPECT_EQ(encoded_by(*make_utf8(0), {}), from_hex("00000000"));
}

TEST(Vlen, ElementsOutliveTheEncodedBytes) {
  const auto codec = make_utf8(1);
  Bytes encoded = from_hex("010000000100000061");
  Bytes decoded(sizeof(VariableElement));
  Arena arena;
  codec->decode(encoded, decoded, arena);
  encoded.assign(encoded.size(), std::byte{0});
  EXPECT_EQ(values_of<VariableElement>(decoded)[0].text(), "a");
}

TEST(Vlen, AnElementWithoutBytesMayPointNowhere) {
  EXPECT_EQ(encoded_by(*make_utf8(1), Bytes(sizeof(VariableElement))),
            from_hex("0100000000000000"));
}

TEST(Vlen, AnotherCountThanTheChunksIsAnError) {
  EXPECT_ERROR(texts_by(*make_utf8(5), from_hex(kFromNumcodecs), 5),
               "the chunk has 4 elements where 5 are expected");
  EXPECT_ERROR(texts_by(*make_utf8(1), from_hex("ffffffff"), 1),
               "the chunk has 4294967295 elements where 1 are expected");
}

TEST(Vlen, EveryTruncationIsAnError) {
  const Bytes encoded = from_hex(kFromNumcodecs);
  for (std::size_t size = 0; size < encoded.size(); ++size) {
    EXPECT_ERROR(texts_by(*make_utf8(4), {encoded.begin(), encoded.begin() + size}, 4), "vlen: ");
  }
}

TEST(Vlen, LengthsThatLeadOutAndBytesLeftOverAreErrors) {
  EXPECT_ERROR(texts_by(*make_utf8(1), from_hex("01000000ffffffff61"), 1),
               "the chunk ends within element 0");
  EXPECT_ERROR(texts_by(*make_utf8(1), from_hex("01000000010000006162"), 1),
               "1 bytes follow the last element");
}

TEST(Vlen, TextIsUtf8InBothDirections) {
  EXPECT_ERROR(texts_by(*make_utf8(1), from_hex("0100000001000000ff"), 1),
               "element 0 is not UTF-8");
  EXPECT_ERROR(encoded_by(*make_utf8(2), elements(Texts{"a", "\xed\xa0\x80"})),
               "element 1 is not UTF-8");
}

TEST(Vlen, StringsOfFixedLengthArePadded) {
  const auto ascii =
      make_array_to_bytes("vlen-bytes", "{}", spec_of({3}, {TypeKind::fixed_bytes, 4}));
  const Bytes encoded = from_hex("0300000001000000610000000004000000ff000062");
  const Bytes decoded = from_hex("6100000000000000ff000062");
  EXPECT_EQ(decoded_by(*ascii, encoded, 12), decoded);
  EXPECT_EQ(encoded_by(*ascii, decoded), encoded);

  const auto unicode =
      make_array_to_bytes("vlen-utf8", "{}", spec_of({4}, {TypeKind::fixed_utf32, 8}));
  const Bytes padded = elements(std::vector<char32_t>{U'a', 0, 0, 0, U'b', U'é', U'🌍', 0});
  EXPECT_EQ(decoded_by(*unicode, from_hex(kFromNumcodecs), 32), padded);
  EXPECT_EQ(encoded_by(*unicode, padded), from_hex(kFromNumcodecs));
}

TEST(Vlen, WhatDoesNotFitAFixedLengthIsAnError) {
  const auto ascii =
      make_array_to_bytes("vlen-bytes", "{}", spec_of({2}, {TypeKind::fixed_bytes, 2}));
  EXPECT_ERROR(decoded_by(*ascii, from_hex("02000000010000006103000000616263"), 4),
               "vlen: element 1: it is longer than elements of the type null_terminated_bytes");
  const auto unicode =
      make_array_to_bytes("vlen-utf8", "{}", spec_of({4}, {TypeKind::fixed_utf32, 4}));
  EXPECT_ERROR(decoded_by(*unicode, from_hex(kFromNumcodecs), 16),
               "vlen: element 2: it is longer than elements of the type fixed_length_utf32");
  EXPECT_ERROR(encoded_by(*unicode, elements(std::vector<char32_t>{0, 0, 0x110000, 0})),
               "1114112 is not a code point of a character");
}

TEST(Vlen, EachCodecIsForItsOwnType) {
  EXPECT_ERROR(make_codec("vlen-utf8", "{}", spec_of({1}, {TypeKind::fixed_bytes, 2})),
               "null_terminated_bytes");
  EXPECT_ERROR(make_codec("vlen-utf8", "{}", spec_of({1}, kBytes)), "bytes");
  EXPECT_ERROR(make_codec("vlen-bytes", "{}", spec_of({1}, kString)), "string");
  EXPECT_ERROR(make_codec("vlen-utf8", "{}", spec_of({1}, kInt16)), "int16");
}

}  // namespace
}  // namespace zarrcore::test::vlen_test
