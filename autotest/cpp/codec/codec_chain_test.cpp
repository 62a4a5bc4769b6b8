#include "zarrcore/codec/codec_chain.h"

#include <gtest/gtest.h>

#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/codecs.h"
#include "autotest/cpp/support/expect_error.h"

namespace zarrcore::test::codec_chain_test {
namespace {

using Order = std::vector<std::size_t>;

constexpr const char* kLittle = R"({"name": "bytes", "configuration": {"endian": "little"}})";
constexpr const char* kBig = R"({"name": "bytes", "configuration": {"endian": "big"}})";
constexpr const char* kNative = kHostEndian == Endian::little ? kLittle : kBig;
constexpr const char* kReversed = kHostEndian == Endian::little ? kBig : kLittle;

std::string list(std::initializer_list<std::string_view> codecs) {
  std::string text;
  for (const std::string_view codec : codecs) {
    text.append(text.empty() ? "[" : ", ").append(codec);
  }
  return text + "]";
}

std::string transpose(std::string_view order) {
  return R"({"name": "transpose", "configuration": {"order": )" + std::string(order) + "}}";
}

void expect_round_trip(const CodecChain& chain) {
  Random random(11);
  const Bytes chunk = random_bytes(random, chain.decoded_size());
  const Buffer encoded = chain.encode(chunk);
  EXPECT_LE(encoded.size(), chain.max_encoded_size());
  EXPECT_EQ(chain.encoded_size().value_or(encoded.size()), encoded.size());
  EXPECT_EQ(to_bytes(chain.decode(encoded.span()).elements.span()), chunk);
  Bytes decoded(chunk.size());
  Arena arena;
  chain.decode(encoded.span(), decoded, arena);
  EXPECT_EQ(decoded, chunk);
}

TEST(CodecChain, RoundTripsInEveryCombination) {
  for (const Shape& shape : {Shape{3, 4, 5}, Shape{1, 1, 1}, Shape{0, 4, 5}, Shape{64, 3, 65}}) {
    for (const std::string& codecs :
         {list({kLittle}), list({R"({"name": "bytes", "configuration": {"endian": "big"}})"}),
          list({kLittle, "\"crc32c\""}), list({kLittle, "\"gzip\"", "\"crc32c\""}),
          list({kLittle, "\"crc32c\"", "\"gzip\""}), list({kLittle, "\"zstd\"", "\"blosc\""}),
          list({kLittle, "\"gzip\"", "\"gzip\"", "\"zstd\"", "\"crc32c\"", "\"crc32c\""}),
          list({transpose("[2, 0, 1]"), kLittle, "\"zstd\""}),
          list({transpose("[2, 0, 1]"), transpose("[1, 0, 2]"), kLittle, "\"crc32c\""}),
          list({transpose("\"F\""), transpose("\"F\""), transpose("[0, 2, 1]"), kLittle})}) {
      SCOPED_TRACE(codecs);
      expect_round_trip(make_chain(codecs, spec_of(shape, kInt32)));
    }
  }
}

TEST(CodecChain, ALeadingTransposeIsFoldedAway) {
  const CodecChain chain =
      make_chain(list({transpose("[1, 2, 0]"), kLittle}), spec_of({2, 3, 4}, kInt16));
  EXPECT_EQ(chain.axis_order(), (Order{1, 2, 0}));
  EXPECT_EQ(chain.stored_spec().shape, (Shape{3, 4, 2}));
  EXPECT_EQ(chain.spec().shape, (Shape{2, 3, 4}));
}

TEST(CodecChain, TransposesFollowEachOther) {
  // In stored order: first (1, 2, 0) of the array, then (2, 0, 1) of that.
  const CodecChain chain = make_chain(
      list({transpose("[1, 2, 0]"), transpose("[2, 0, 1]"), kLittle}), spec_of({2, 3, 4}, kInt16));
  EXPECT_EQ(chain.axis_order(), (Order{0, 1, 2}));
  EXPECT_EQ(chain.stored_spec().shape, (Shape{2, 3, 4}));
}

TEST(CodecChain, KnowsItsEncodedSizeWhenEveryCodecDoes) {
  const ChunkSpec spec = spec_of({10}, kInt16);
  EXPECT_EQ(make_chain(list({kLittle}), spec).encoded_size(), 20);
  EXPECT_EQ(make_chain(list({kLittle, "\"crc32c\"", "\"crc32c\""}), spec).encoded_size(), 28);
  EXPECT_EQ(make_chain(list({kLittle, "\"gzip\"", "\"crc32c\""}), spec).encoded_size(),
            std::nullopt);
}

TEST(CodecChain, RefusesChunksOfAnotherSize) {
  const CodecChain chain = make_chain(list({kLittle, "\"crc32c\""}), spec_of({10}, kInt16));
  EXPECT_ERROR(chain.decode(Bytes(23)), "the chunk has 23 bytes where 24 are expected");
  EXPECT_ERROR(chain.decode(Bytes(25)), "the chunk has 25 bytes where 24 are expected");
}

TEST(CodecChain, AFewBytesCannotDemandALotOfMemory) {
  // Far more than 30 bytes of DEFLATE can hold.
  const ChunkSpec spec = spec_of({std::uint64_t{1} << (sizeof(std::size_t) == 8 ? 50 : 30)});
  const CodecChain gzip = make_chain(R"(["bytes", "gzip"])", spec);
  EXPECT_ERROR(gzip.decode(Bytes(30)), "the chunk decodes to at most 30960 bytes");
  const CodecChain blosc = make_chain(R"(["bytes", "blosc"])", spec);
  const Buffer small = make_bytes_to_bytes("blosc")->encode(regular_bytes(100));
  EXPECT_ERROR(blosc.decode(small.span()), "the chunk decodes to at most 100 bytes");
  const CodecChain zstd = make_chain(R"(["bytes", "zstd"])", spec);
  const Buffer frame = make_bytes_to_bytes("zstd")->encode(regular_bytes(100));
  EXPECT_ERROR(zstd.decode(frame.span()), "the chunk decodes to at most 100 bytes");
}

TEST(CodecChain, ASizeThatMemoryCannotHaveIsNotCutOff) {
  if (sizeof(std::size_t) == 8) GTEST_SKIP() << "memory can have all of these sizes";
  for (const unsigned more : {0, 4}) {
    const std::uint64_t size = (std::uint64_t{1} << 32) + more;
    EXPECT_ERROR(make_chain(R"(["bytes"])", spec_of({size})), "larger than any memory");
    EXPECT_THROW(Buffer{size}, std::bad_alloc);
  }
}

TEST(CodecChain, FindsTheChunkThatStandsInItsEncodedBytes) {
  const ChunkSpec spec = spec_of({3, 5}, kInt32);
  const Bytes chunk = regular_bytes(spec.byte_count());
  for (const std::string& codecs :
       {list({kNative}), list({kNative, "\"crc32c\""}), list({transpose("\"F\""), kNative}),
        list({kNative, R"({"name": "numcodecs.adler32"})", "\"crc32c\""})}) {
    SCOPED_TRACE(codecs);
    const CodecChain chain = make_chain(codecs, spec);
    Bytes encoded = to_bytes(chain.encode(chunk).span());
    const auto found = chain.find_decoded(encoded);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(to_bytes(*found), chunk);
    EXPECT_GE(found->data(), encoded.data());
    EXPECT_LE(found->data() + found->size(), encoded.data() + encoded.size());
    encoded.pop_back();
    EXPECT_ERROR(chain.find_decoded(encoded), "the chunk has ");
  }
  const CodecChain checked = make_chain(list({kNative, "\"crc32c\""}), spec);
  Bytes corrupt = to_bytes(checked.encode(chunk).span());
  corrupt[7] ^= std::byte{1};
  EXPECT_ERROR(checked.find_decoded(corrupt), "crc32c");
}

TEST(CodecChain, DoesNotFindTheChunkWhereEncodingChangesIt) {
  const ChunkSpec spec = spec_of({3, 5}, kInt32);
  for (const std::string& codecs :
       {list({kReversed}), list({kNative, "\"gzip\"", "\"crc32c\""}),
        list({transpose("\"F\""),
              R"({"name": "numcodecs.delta", "configuration": {"dtype": "<i4"}})", kNative})}) {
    SCOPED_TRACE(codecs);
    const CodecChain chain = make_chain(codecs, spec);
    const Buffer encoded = chain.encode(regular_bytes(spec.byte_count()));
    EXPECT_EQ(chain.find_decoded(encoded.span()).has_value(), false);
  }
}

TEST(CodecChain, DoesNotTakeStoredBitsForNarrowIntegers) {
  const DataType int4{.kind = TypeKind::signed_integer, .item_size = 1, .bits = 4};
  const CodecChain chain = make_chain(list({"\"bytes\""}), spec_of({2}, int4));
  const Bytes encoded = from_hex("0f08");
  EXPECT_EQ(chain.find_decoded(encoded).has_value(), false);
  EXPECT_EQ(to_bytes(chain.decode(encoded).elements.span()), from_hex("fff8"));
}

TEST(CodecChain, AnUnknownCodecIsRefusedByName) {
  EXPECT_ERROR(make_chain(list({kLittle, "\"brotli\""}), spec_of({10}, kInt16)),
               "the codec \"brotli\" is not supported");
}

TEST(CodecChain, AnUnknownCodecThatNeedNotBeUnderstoodIsPassedOver) {
  expect_round_trip(make_chain(list({kLittle, R"({"name": "brotli", "must_understand": false})"}),
                               spec_of({10}, kInt16)));
}

TEST(CodecChain, AFaultInAConfigurationNamesTheCodec) {
  EXPECT_ERROR(make_chain(list({kLittle, R"({"name": "gzip", "configuration": {"level": "x"}})"}),
                          spec_of({10}, kInt16)),
               "codec \"gzip\": \"level\" is \"x\"");
}

TEST(CodecChain, TheByteOrderOfAFiltersOutputIsThatOfTheBytesCodec) {
  // As zarr-python stores it, whatever the filter itself makes; another filter sees what it makes.
  const auto spec = spec_of({3}, kFloat64);
  const double numbers[] = {0, 1, 258};
  const Bytes decoded = to_bytes(std::as_bytes(std::span(numbers)));
  for (const char* filters :
       {R"({"name": "numcodecs.astype", "configuration": {"encode_dtype": ">i4"}})",
        R"({"name": "numcodecs.astype", "configuration": {"encode_dtype": ">i2"}},
           {"name": "numcodecs.astype",
            "configuration": {"encode_dtype": ">i4", "decode_dtype": ">i2"}})"}) {
    const auto chain = [&](std::string_view endian) {
      const std::string bytes =
          R"({"name": "bytes", "configuration": {"endian": ")" + std::string(endian) + "\"}}";
      return make_chain(list({filters, bytes}), spec);
    };
    const Bytes little = from_hex("000000000100000002010000");
    const Bytes big = from_hex("000000000000000100000102");
    EXPECT_EQ(to_bytes(chain("little").encode(decoded).span()), little);
    EXPECT_EQ(to_bytes(chain("big").encode(decoded).span()), big);
    EXPECT_EQ(to_bytes(chain("little").decode(little).elements.span()), decoded);
    EXPECT_EQ(to_bytes(chain("big").decode(big).elements.span()), decoded);
  }
}

TEST(CodecChain, CodecsStandInTheOrderOfTheirKinds) {
  const ChunkSpec spec = spec_of({10}, kInt16);
  EXPECT_ERROR(make_chain(list({"\"gzip\"", kLittle}), spec),
               "codec \"bytes\": it comes after the array-to-bytes codec");
  EXPECT_ERROR(make_chain(list({kLittle, transpose("[0]")}), spec),
               "codec \"transpose\": it comes after the array-to-bytes codec");
  EXPECT_ERROR(make_chain(list({kLittle, kLittle}), spec),
               "codec \"bytes\": it comes after the array-to-bytes codec");
}

TEST(CodecChain, WithoutAnArrayToBytesCodecElementsAreLittleEndianBytes) {
  const ChunkSpec spec = spec_of({2, 3}, kInt16);
  const Bytes chunk = regular_bytes(12);
  const std::string order = transpose("[1, 0]");
  const std::string shards = R"({"name": "sharding_indexed", "configuration": {
      "chunk_shape": [1, 3], "codecs": CODECS, "index_codecs": INDEX}})";
  const auto shards_of = [&](const std::string& codecs, const std::string& index) {
    std::string text = shards;
    text.replace(text.find("CODECS"), 6, codecs);
    return text.replace(text.find("INDEX"), 5, index);
  };
  for (const auto& [lenient, strict] : {
           std::pair(std::string("[]"), list({kLittle})),
           std::pair(list({order}), list({order, kLittle})),
           std::pair(list({"\"zstd\""}), list({kLittle, "\"zstd\""})),
           std::pair(list({order, "\"crc32c\""}), list({order, kLittle, "\"crc32c\""})),
           std::pair(list({"\"bytes\""}), list({kLittle})),
           std::pair(list({R"({"name": "numcodecs.delta", "configuration": {"dtype": "<i2"}})"}),
                     list({R"({"name": "numcodecs.delta", "configuration": {"dtype": "<i2"}})",
                           kLittle})),
           std::pair(list({shards_of("[]", "[]")}),
                     list({shards_of(list({kLittle}), list({kLittle}))})),
           std::pair(list({shards_of("[\"bytes\"]", "[\"bytes\", \"crc32c\"]")}),
                     list({shards_of(list({kLittle}), list({kLittle, "\"crc32c\""}))})),
       }) {
    const CodecChain chain = make_chain(lenient, spec);
    const CodecChain expected = make_chain(strict, spec);
    EXPECT_TRUE(chain.assumes_bytes()) << lenient;
    EXPECT_FALSE(expected.assumes_bytes()) << strict;
    const CodecChain stated(chain.codecs(), spec);
    EXPECT_FALSE(stated.assumes_bytes()) << lenient;
    EXPECT_EQ(to_bytes(stated.encode(chunk).span()), to_bytes(expected.encode(chunk).span()));
    EXPECT_EQ(to_bytes(chain.encode(chunk).span()), to_bytes(expected.encode(chunk).span()));
  }
}

TEST(CodecChain, BytesAreNotAssumedForTextsAndUnknownCodecs) {
  const ChunkSpec text = spec_of({2}, {TypeKind::variable_string, sizeof(VariableElement)});
  EXPECT_ERROR(make_chain("[]", text), "do not include one from arrays to bytes");
  EXPECT_ERROR(make_chain(list({"\"zstd\""}), text), "it comes before the array-to-bytes codec");
  const std::string unknown = R"({"name": "far", "must_understand": false})";
  EXPECT_ERROR(make_chain(list({unknown}), spec_of({2})),
               "do not include one from arrays to bytes");
  EXPECT_ERROR(make_chain(list({unknown, "\"zstd\""}), spec_of({2})),
               "it comes before the array-to-bytes codec");
}

TEST(CodecChain, AChunkLargerThanAnyMemoryIsRefused) {
  const std::uint64_t large = std::uint64_t{1} << 32;
  for (const Shape& shape : {Shape{large, large}, Shape{large, large / 4, 2}, Shape{UINT64_MAX}}) {
    EXPECT_ERROR(make_chain(list({kLittle}), spec_of(shape, kInt16)), "larger than any memory");
  }
}

}  // namespace
}  // namespace zarrcore::test::codec_chain_test
