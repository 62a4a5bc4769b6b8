// The codecs optional and vlen of zarrs, and conditional of zarr-extensions.
#include <gtest/gtest.h>

#include "autotest/cpp/support/array_codecs.h"
#include "autotest/cpp/support/expect_error.h"

namespace zarrcore::test::zarrs_codecs_test {
namespace {

using Texts = std::vector<std::string>;

const char* const kLittle = R"({"name": "bytes", "configuration": {"endian": "little"}})";

auto optional_codec(const Shape& shape, const DataType& value,
                    const std::string& mask = "[\"bytes\"]",
                    const std::string& data = "[" + std::string(kLittle) + "]") {
  return make_array_to_bytes("zarrs.optional",
                             R"({"mask_codecs": )" + mask + R"(, "data_codecs": )" + data + "}",
                             spec_of(shape, zarrcore::make_optional(value)));
}

// Elements 1, missing, 3, missing of int16.
const Bytes kOptional = from_hex(kHostEndian == Endian::little ? "01010000000001"
                                                                 "0300000000"
                                                               : "01000100000001"
                                                                 "0003000000");
constexpr const char* kStoredOptional =
    "0400000000000000"
    "0400000000000000"
    "01000100"
    "01000300";

TEST(Optional, HasTheMaskAndTheValuesThatAreNotMissing) {
  const auto codec = optional_codec({2, 2}, kInt16);
  EXPECT_EQ(encoded_by(*codec, kOptional), from_hex(kStoredOptional));
  EXPECT_EQ(decoded_by(*codec, from_hex(kStoredOptional), 12), kOptional);
}

TEST(Optional, TheMaskHasCodecsOfItsOwn) {
  const std::string order = R"({"name": "transpose", "configuration": {"order": [1, 0]}})";
  const auto codec = optional_codec({2, 2}, kInt16, "[" + order + R"(, {"name": "packbits"}])",
                                    "[" + std::string(kLittle) + ", \"zstd\"]");
  const Bytes encoded = encoded_by(*codec, kOptional);
  // The first column is valid: in Fortran order, the first two.
  EXPECT_EQ(to_bytes(ByteSpan(encoded).subspan(16, 1)), from_hex("03"));
  EXPECT_EQ(decoded_by(*codec, encoded, 12), kOptional);
}

TEST(Optional, WithoutValuesThereAreNoDataAndNoCodecsOfThem) {
  const auto codec =
      optional_codec({2}, kInt16, "[\"bytes\"]", "[" + std::string(kLittle) + ", \"zstd\"]");
  const Bytes stored = from_hex(
      "02000000000000000000000000000000"
      "0000");
  EXPECT_EQ(encoded_by(*codec, Bytes(6)), stored);
  EXPECT_EQ(decoded_by(*codec, stored, 6), Bytes(6));
}

TEST(Optional, TypesNest) {
  const std::string inner = R"([{"name": "zarrs.optional", "configuration": {
      "mask_codecs": ["bytes"], "data_codecs": ["bytes"]}}])";
  const auto codec = optional_codec({3}, zarrcore::make_optional(kUint8), "[\"bytes\"]", inner);
  // A value, a valid element that is missing, and a missing one.
  const Bytes elements = from_hex(
      "010107"
      "010000"
      "000000");
  const Bytes stored = from_hex(
      "0300000000000000"
      "1300000000000000"
      "010100"
      "0200000000000000"
      "0100000000000000"
      "0100"
      "07");
  EXPECT_EQ(encoded_by(*codec, elements), stored);
  EXPECT_EQ(decoded_by(*codec, stored, 9), elements);
}

TEST(Optional, ManyLevelsTakeNoLongerThanTheirNumber) {
  DataType value = kUint8;
  std::string data = "[\"bytes\"]";
  Bytes element = from_hex("07");
  for (int level = 0; level < 30; ++level) {
    data = R"([{"name": "zarrs.optional", "configuration": {"mask_codecs": ["bytes"], )"
           R"("data_codecs": )" +
           data + "}}]";
    value = zarrcore::make_optional(value);
    element.insert(element.begin(), std::byte{1});
  }
  const auto codec = optional_codec({1}, value, "[\"bytes\"]", data);
  element.insert(element.begin(), std::byte{1});
  EXPECT_TRUE(codec->can_encode());
  EXPECT_FALSE(codec->assumes_byte_order());
  EXPECT_EQ(decoded_by(*codec, encoded_by(*codec, element), element.size()), element);
}

TEST(Optional, BadBytesAreErrors) {
  const auto codec = optional_codec({2, 2}, kInt16);
  const Bytes stored = from_hex(kStoredOptional);
  for (std::size_t size = 0; size < stored.size(); ++size) {
    EXPECT_ERROR(decoded_by(*codec, {stored.begin(), stored.begin() + size}, 12), "optional: ");
  }
  const auto decode = [&](const char* hex) { return decoded_by(*codec, from_hex(hex), 12); };
  EXPECT_ERROR(decode("ffffffffffffffff0500000000000000"
                      "01000100"),
               "optional: the chunk has 4 bytes");
  // Two values where the mask has three elements that are not missing, or none.
  EXPECT_ERROR(decode("040000000000000004000000000000000101010001000300"), "optional: data: ");
  EXPECT_ERROR(decode("040000000000000004000000000000000000000001000300"), "optional: data: ");
  EXPECT_ERROR(make_codec("zarrs.optional", R"({"mask_codecs": [], "data_codecs": []})",
                          spec_of({1}, kInt16)),
               "not for elements of the type int16");
}

auto make_vlen(const std::string& more, const Shape& shape = {3},
               const std::string& data = "[\"bytes\"]", const DataType& type = kString) {
  return make_array_to_bytes("zarrs.vlen",
                             R"({"index_codecs": [)" + std::string(kLittle) +
                                 R"(], "data_codecs": )" + data + R"(, "index_data_type": )" +
                                 more + "}",
                             spec_of(shape, type));
}
const Texts kTexts{"a", "", "b\xc3\xa9"};

TEST(ZarrsVlen, HasOffsetsAndBytes) {
  const auto narrow = make_vlen("\"uint32\"");
  const Bytes stored = from_hex(
      "1000000000000000"
      "00000000010000000100000004000000"
      "6162c3a9");
  EXPECT_EQ(encoded_by(*narrow, elements(kTexts)), stored);
  EXPECT_EQ(texts_by(*narrow, stored, 3), kTexts);
  const auto wide = make_vlen(R"("uint64", "index_location": "end")");
  const Bytes at_end = from_hex(
      "6162c3a9"
      "0000000000000000010000000000000001000000000000000400000000000000"
      "2000000000000000");
  EXPECT_EQ(encoded_by(*wide, elements(kTexts)), at_end);
  EXPECT_EQ(texts_by(*wide, at_end, 3), kTexts);
}

TEST(ZarrsVlen, WithoutDataTheirCodecsAreNotRun) {
  const auto codec = make_vlen("\"uint32\"", {2}, R"(["bytes", "zstd"])");
  const Bytes stored = from_hex("0c00000000000000000000000000000000000000");
  EXPECT_EQ(encoded_by(*codec, elements(Texts{"", ""})), stored);
  EXPECT_EQ(texts_by(*codec, stored, 2), (Texts{"", ""}));
  const auto many = make_vlen("\"uint32\"", {5, 200}, R"(["bytes", "zstd"])", kBytes);
  Texts texts;
  for (int i = 0; i < 1000; ++i) texts.push_back(std::string(i % 50, '\xff'));
  EXPECT_EQ(texts_by(*many, encoded_by(*many, elements(texts)), 1000), texts);
}

TEST(ZarrsVlen, BadBytesAreErrors) {
  const auto codec = make_vlen("\"uint32\"");
  const Bytes stored = encoded_by(*codec, elements(kTexts));
  for (std::size_t size = 0; size < stored.size(); ++size) {
    EXPECT_ERROR(texts_by(*codec, {stored.begin(), stored.begin() + size}, 3), "vlen: ");
  }
  const auto texts = [&](const std::string& index) {
    return texts_by(*codec, from_hex("1000000000000000" + index + "6162c3a9"), 3);
  };
  EXPECT_ERROR(texts("00000000020000000100000004000000"), "element 1 do not rise");
  EXPECT_ERROR(texts("00000000090000000900000004000000"), "element 0 do not rise");
  EXPECT_ERROR(texts("000000000100000001000000ffffffff"), "vlen: data: ");
  EXPECT_ERROR(texts("00000000010000000300000004000000"), "element 1 is not UTF-8");
  EXPECT_ERROR(make_vlen("\"int32\""), "\"index_data_type\" is \"int32\"");
  EXPECT_ERROR(make_vlen(R"("uint32", "index_location": "middle")"), "none of start, end");
  EXPECT_ERROR(make_vlen("\"uint32\"", {3}, "[\"bytes\"]", kInt16), "of the type int16");
}

TEST(ZarrsVlen, TheSecondVersionHasTheLayoutOfVlenUtf8ForTextsAndBytes) {
  const Bytes stored = from_hex("02000000010000007100000000");
  for (const DataType& type : {kString, kBytes}) {
    const auto codec = make_array_to_bytes("zarrs.vlen_v2", "{}", spec_of({2}, type));
    EXPECT_EQ(texts_by(*codec, stored, 2), (Texts{"q", ""}));
  }
  EXPECT_ERROR(make_codec("zarrs.vlen_v2", "{}", spec_of({2})), "of the type uint8");
}

TEST(ZarrsCodecs, StateTheByteOrderThatTheirInnerCodecsLeaveOut) {
  const auto stated = [](const ArrayToBytesCodec& codec, const char* configuration) {
    EXPECT_TRUE(codec.assumes_byte_order());
    Json json = parse_json(configuration);
    codec.state_byte_order(json);
    return dump_json(json);
  };
  const std::string bytes = R"([{"name":"bytes","configuration":{"endian":"little"}}])";
  EXPECT_EQ(stated(*optional_codec({2}, kInt16, R"(["bytes"])", R"(["bytes"])"), "{}"),
            R"({"mask_codecs":[{"name":"bytes"}],"data_codecs":)" + bytes + "}");
  EXPECT_FALSE(optional_codec({2}, kInt16)->assumes_byte_order());
  const auto vlen = make_array_to_bytes(
      "zarrs.vlen",
      R"({"index_codecs": ["bytes"], "data_codecs": ["bytes"], "index_data_type": "uint32"})",
      spec_of({2}, kString));
  EXPECT_EQ(stated(*vlen, R"({"index_data_type": "uint32"})"),
            R"({"index_data_type":"uint32","index_codecs":)" + bytes +
                R"(,"data_codecs":[{"name":"bytes"}]})");
  EXPECT_FALSE(make_vlen("\"uint32\"")->assumes_byte_order());
}

auto make_conditional(const std::string& more, const std::string& codecs) {
  return make_bytes_to_bytes("conditional", R"({"codecs": )" + codecs + more + "}");
}
const char* const kTwo = R"(["crc32c", {"name": "gzip", "configuration": {"level": 5}}])";

TEST(Conditional, AHeaderNamesTheCodecsThatWereApplied) {
  const auto codec = make_conditional("", kTwo);
  const Bytes text = bytes_of("123456789");
  const Bytes crc = from_hex("839206e3");
  EXPECT_EQ(decoded_by(*codec, from_hex("00313233343536373839"), 9), text);
  EXPECT_EQ(decoded_by(*codec, from_hex("01313233343536373839839206e3"), 9), text);
  const Bytes packed =
      to_bytes(make_bytes_to_bytes("gzip", R"({"level": 5})")->encode(text).span());
  Bytes both = from_hex("02");
  both.insert(both.end(), packed.begin(), packed.end());
  EXPECT_EQ(decoded_by(*codec, both, 9), text);
  Bytes framed = text;
  framed.insert(framed.end(), crc.begin(), crc.end());
  const Bytes all = to_bytes(make_bytes_to_bytes("gzip", R"({"level": 5})")->encode(framed).span());
  both = from_hex("03");
  both.insert(both.end(), all.begin(), all.end());
  EXPECT_EQ(decoded_by(*codec, both, 9), text);
  EXPECT_EQ(to_bytes(codec->decode(both, 9).span()), text);
}

TEST(Conditional, CodecsThatMakeAChunkLargerAreNotAppliedUnlessTheyAreChecksums) {
  const auto codec = make_conditional(R"(, "header_bits": 16)", kTwo);
  const Bytes text = bytes_of("123456789");
  EXPECT_EQ(to_bytes(codec->encode(text).span()), from_hex("0100313233343536373839839206e3"));
  const Bytes zeros(1000);
  const Bytes encoded = to_bytes(codec->encode(zeros).span());
  EXPECT_EQ(to_bytes(ByteSpan(encoded).first(2)), from_hex("0300"));
  EXPECT_LT(encoded.size(), 100u);
  EXPECT_EQ(decoded_by(*codec, encoded, 1000), zeros);
}

TEST(Conditional, CodecsThatCannotEncodeAChunkAreNotApplied) {
  // Delta takes pairs of bytes.
  const auto codec = make_conditional(
      "", R"([{"name": "numcodecs.delta", "configuration": {"dtype": "<i2"}}, "crc32c"])");
  EXPECT_EQ(to_bytes(codec->encode(bytes_of("123456789")).span()),
            from_hex("02313233343536373839839206e3"));
  EXPECT_EQ(decoded_by(*codec, from_hex("02313233343536373839839206e3"), 9), bytes_of("123456789"));
}

// The innermost codec makes a few bytes that are right, and then more zeros than can be.
TEST(Conditional, CodecsInsideDoNotDoubleWhatTheirInputMayBe) {
  constexpr int kLevels = 8;
  const auto gzip = make_bytes_to_bytes("gzip");
  std::string codecs = R"(["gzip", "gzip"])";
  Bytes inner = to_bytes(gzip->encode(regular_bytes(1000)).span());
  for (int level = 0; level < kLevels; ++level) {
    inner = to_bytes(gzip->encode(inner).span());
    codecs = R"(["gzip", {"name": "conditional", "configuration": {"codecs": )" + codecs + "}}]";
  }
  const auto codec = make_conditional("", codecs);
  const auto decode = [&] {
    Bytes encoded = to_bytes(gzip->encode(inner).span());
    encoded.insert(encoded.begin(), kLevels + 1, std::byte{3});
    return decoded_by(*codec, encoded, 1000);
  };
  EXPECT_EQ(decode(), regular_bytes(1000));
  inner.resize(1 << 20);
  EXPECT_ERROR(decode(), "gzip: more than the");
}

TEST(Conditional, BadHeadersAndConfigurationsAreErrors) {
  const auto codec = make_conditional("", kTwo);
  EXPECT_ERROR(decoded_by(*codec, {}, 1), "ends within its header");
  EXPECT_ERROR(decoded_by(*codec, from_hex("0431"), 1), "the chunk has codec 2 of 2");
  EXPECT_ERROR(decoded_by(*codec, from_hex("003132"), 1), "conditional: 2 bytes where 1");
  EXPECT_ERROR(codec->decode(from_hex("003132"), 1), "more than the 1");
  EXPECT_ERROR(make_conditional(R"(, "header_bits": 12)", kTwo), "\"header_bits\" is 12");
  EXPECT_ERROR(make_conditional(R"(, "header_bits": 0)", kTwo), "\"header_bits\" is 0");
  EXPECT_ERROR(make_conditional("", R"(["bytes"])"), "codec \"bytes\": it is not one from bytes");
  EXPECT_ERROR(make_conditional("", R"(["none-such"])"),
               "codec \"none-such\": it is not supported");
}

}  // namespace
}  // namespace zarrcore::test::zarrs_codecs_test
