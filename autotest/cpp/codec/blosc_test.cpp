#include <gtest/gtest.h>

#include <algorithm>

#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/codecs.h"
#include "autotest/cpp/support/expect_error.h"
#include "zarrcore/base/endian.h"

namespace zarrcore::test::blosc_test {
namespace {

void expect_refused(std::string_view configuration, std::string_view problem) {
  EXPECT_ERROR(make_bytes_to_bytes("blosc", configuration), problem) << configuration;
}

TEST(Blosc, EveryCompressorAndShuffleRoundTrips) {
  const Bytes bytes = regular_bytes(100000);
  for (const char* cname : {"blosclz", "lz4", "lz4hc", "zlib", "zstd"}) {
    for (const char* shuffle : {"\"noshuffle\"", "\"shuffle\"", "\"bitshuffle\"", "0", "1", "2"}) {
      for (const char* typesize : {"1", "2", "8", "255", "256", "1000"}) {
        const std::string configuration = std::string(R"({"clevel": 5, "cname": ")") + cname +
                                          R"(", "shuffle": )" + shuffle + R"(, "typesize": )" +
                                          typesize + "}";
        const auto codec = make_bytes_to_bytes("blosc", configuration);
        const Buffer encoded = codec->encode(bytes);
        EXPECT_LT(encoded.size(), bytes.size()) << configuration;
        EXPECT_EQ(decoded_by(*codec, encoded.span(), bytes.size()), bytes) << configuration;
      }
    }
  }
}

TEST(Blosc, DecodesWhateverTheHeaderSays) {
  const Bytes bytes = regular_bytes(1000);
  const auto writer =
      make_bytes_to_bytes("blosc", R"({"cname": "zstd", "shuffle": "bitshuffle", "typesize": 4})");
  const auto reader = make_bytes_to_bytes("blosc", R"({"cname": "lz4", "shuffle": "noshuffle"})");
  EXPECT_EQ(decoded_by(*reader, writer->encode(bytes).span(), bytes.size()), bytes);
}

// The block size stands in bytes 8 to 11 of the header.
Bytes with_block_size(ByteSpan encoded, std::uint32_t size) {
  Bytes changed = to_bytes(encoded);
  store_integer(size, Endian::little, changed.data() + 8);
  return changed;
}

TEST(Blosc, DecodesBlockByBlock) {
  const Bytes bytes = regular_bytes(100000);
  for (const char* shuffle : {"noshuffle", "shuffle", "bitshuffle"}) {
    const auto codec = make_bytes_to_bytes(
        "blosc", R"({"cname": "lz4", "typesize": 4, "blocksize": 16384, "shuffle": ")" +
                     std::string(shuffle) + R"("})");
    const Buffer encoded = codec->encode(bytes);
    const std::size_t size = codec->block_size(encoded.span()).value();
    ASSERT_LT(size, bytes.size());
    for (std::size_t offset = 0; offset < bytes.size(); offset += size) {
      Bytes block(std::min(size, bytes.size() - offset));
      codec->decode_block(encoded.span(), bytes.size(), offset, block);
      EXPECT_TRUE(std::ranges::equal(block, ByteSpan(bytes).subspan(offset, block.size())));
    }
  }
}

TEST(Blosc, BlocksThatDoNotPayOrHoldNoWholeItemsAreNotDecodedAlone) {
  const auto codec = make_bytes_to_bytes("blosc", R"({"typesize": 4, "blocksize": 16384})");
  const Buffer encoded = codec->encode(regular_bytes(100000));
  EXPECT_EQ(codec->block_size(with_block_size(encoded.span(), 1024)), 1024);
  for (const std::uint32_t size : {4u, 124u, 1022u}) {
    EXPECT_EQ(codec->block_size(with_block_size(encoded.span(), size)), std::nullopt) << size;
  }
}

// Byte 3 of the header is the item size; bits 0 and 2 of byte 2 are the two shuffles.
unsigned header_byte(const BytesToBytesCodec& codec, std::size_t at) {
  return std::to_integer<unsigned>(codec.encode(regular_bytes(1000)).span()[at]);
}

TEST(Blosc, TheItemSizeIsThatOfTheDataUnlessItIsStated) {
  const ChunkSpec spec = spec_of({10}, kFloat64);
  EXPECT_EQ(header_byte(*make_bytes_to_bytes("blosc", "{}", spec), 3), 8);
  EXPECT_EQ(header_byte(*make_bytes_to_bytes("blosc", R"({"typesize": 0})", spec), 3), 8);
  EXPECT_EQ(header_byte(*make_bytes_to_bytes("blosc", R"({"typesize": 2})", spec), 3), 2);
  EXPECT_EQ(header_byte(*make_bytes_to_bytes("blosc", R"({"typesize": 300})", spec), 3), 1);
  // What elements of variable length are by the time they are compressed.
  const DataType text{TypeKind::variable_string, sizeof(VariableElement)};
  EXPECT_EQ(header_byte(*make_bytes_to_bytes("blosc", "{}", spec_of({10}, text)), 3), 1);
}

TEST(Blosc, TheAutomaticShuffleIsByBitsForBytesAndElseByBytes) {
  constexpr const char* kAutomatic = R"({"shuffle": -1})";
  const auto of_bytes = make_bytes_to_bytes("blosc", kAutomatic, spec_of({10}, kUint8));
  const auto of_words = make_bytes_to_bytes("blosc", kAutomatic, spec_of({10}, kInt32));
  EXPECT_EQ(header_byte(*of_bytes, 2) & 5, 4);
  EXPECT_EQ(header_byte(*of_words, 2) & 5, 1);
}

TEST(Blosc, NullMembersAreAsIfMissing) {
  EXPECT_NO_THROW(make_bytes_to_bytes(
      "blosc",
      R"({"cname": null, "clevel": null, "shuffle": null, "typesize": null, "blocksize": null})"));
}

TEST(Blosc, RefusesConfigurationsThatAreNone) {
  expect_refused(R"({"cname": "lz77"})", "\"cname\" is \"lz77\"");
  expect_refused(R"({"cname": 7})", "\"cname\" is 7");
  expect_refused(R"({"clevel": "5"})", "\"clevel\" is \"5\"");
  expect_refused(R"({"shuffle": 3})", "\"shuffle\" is 3");
  expect_refused(R"({"shuffle": "bits"})", "\"shuffle\" is \"bits\"");
  expect_refused(R"({"typesize": "4"})", "\"typesize\" is \"4\"");
  expect_refused(R"({"typesize": 18446744073709551615})", "\"typesize\"");
  expect_refused(R"({"blocksize": 1.5})", "\"blocksize\" is 1.5");
}

TEST(Blosc, NumbersOutOfRangeDoNotKeepFromDecoding) {
  const Bytes bytes = regular_bytes(1000);
  const Buffer encoded = make_bytes_to_bytes("blosc")->encode(bytes);
  for (const char* configuration : {R"({"clevel": 99})", R"({"clevel": -1})", R"({"typesize": -4})",
                                    R"({"blocksize": 9223372036854775807})"}) {
    const auto codec = make_bytes_to_bytes("blosc", configuration);
    EXPECT_EQ(decoded_by(*codec, encoded.span(), bytes.size()), bytes) << configuration;
    const Buffer again = codec->encode(bytes);
    EXPECT_EQ(decoded_by(*codec, again.span(), bytes.size()), bytes) << configuration;
  }
}

TEST(Blosc, AHeaderThatStatesMoreBytesThanThereAreIsAnError) {
  const auto codec = make_bytes_to_bytes("blosc");
  Bytes encoded = to_bytes(codec->encode(regular_bytes(1000)).span());
  encoded[15] = std::byte{0x7f};
  EXPECT_ERROR(decoded_by(*codec, encoded, 1000), "blosc: ", "where the header states");
}

TEST(Blosc, AHeaderOfAnotherVersionIsAnError) {
  const auto codec = make_bytes_to_bytes("blosc");
  Bytes encoded = to_bytes(codec->encode(regular_bytes(1000)).span());
  encoded[0] = std::byte{0x55};
  EXPECT_ERROR(decoded_by(*codec, encoded, 1000), "blosc: ");
}

}  // namespace
}  // namespace zarrcore::test::blosc_test
