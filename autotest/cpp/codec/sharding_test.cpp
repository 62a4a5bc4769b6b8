#include "zarrcore/codec/sharding.h"

#include <gtest/gtest.h>

#include <cstring>

#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/codecs.h"
#include "autotest/cpp/support/expect_error.h"
#include "autotest/cpp/support/stored_array.h"
#include "zarrcore/base/endian.h"

namespace zarrcore::test::sharding_test {
namespace {

const std::string kPlain = codec_list({bytes_codec()});
const std::string kGzipped = codec_list({bytes_codec(), codec("gzip")});

// A chain of nothing but a sharding codec, over shards of 4 × 6 elements in chunks of 2 × 3.
CodecChain make_sharded(std::string_view codecs, std::string_view index,
                        std::string_view location = "end") {
  return make_chain(codec_list({sharding_codec({2, 3}, codecs, index, location)}),
                    spec_of({4, 6}, kInt16));
}

// 4 × 6 elements whose four inner chunks are all different.
Bytes sample_shard() {
  Random random(13);
  return random_bytes(random, 48);
}

std::uint64_t number_at(ByteSpan bytes, std::size_t offset) {
  return load_integer<std::uint64_t>(bytes.data() + offset, Endian::little);
}

TEST(Sharding, TheIndexStandsWhereItIsSaidTo) {
  const Bytes chunk = sample_shard();
  const CodecChain at_end = make_sharded(kPlain, kPlain, "end");
  const Buffer with_index_at_end = at_end.encode(chunk);
  ASSERT_EQ(with_index_at_end.size(), 48 + 64);
  EXPECT_EQ(number_at(with_index_at_end.span(), 48), 0);
  EXPECT_EQ(number_at(with_index_at_end.span(), 48 + 8), 12);
  EXPECT_EQ(number_at(with_index_at_end.span(), 48 + 16), 12);
  // Offsets count from the start of the shard, index included.
  const CodecChain at_start = make_sharded(kPlain, kPlain, "start");
  const Buffer with_index_at_start = at_start.encode(chunk);
  EXPECT_EQ(number_at(with_index_at_start.span(), 0), 64);
  EXPECT_EQ(number_at(with_index_at_start.span(), 16), 64 + 12);
}

TEST(Sharding, InnerChunksAreWhatTheirChainMakesOfThem) {
  const Bytes chunk = sample_shard();
  Buffer shard = make_sharded(kPlain, kPlain).encode(chunk);
  if (kHostEndian != Endian::little) swap_bytes(shard.span().first(48), 2);
  // The second inner chunk: rows 0 and 1, columns 3 to 5.
  EXPECT_EQ(std::memcmp(shard.data() + 12, chunk.data() + 6, 6), 0);
  EXPECT_EQ(std::memcmp(shard.data() + 18, chunk.data() + 18, 6), 0);
}

TEST(Sharding, RoundTripsInEveryArrangement) {
  const Bytes chunk = sample_shard();
  const std::vector<std::string> inner{
      kPlain,
      kGzipped,
      codec_list({bytes_codec("big"), codec("crc32c")}),
      codec_list({transpose_codec({1, 0}), bytes_codec()}),
      codec_list({transpose_codec({1, 0}), bytes_codec(), codec("zstd"), codec("crc32c")}),
      codec_list({sharding_codec({1, 3}, kGzipped, index_codecs())}),
      codec_list({transpose_codec({1, 0}), sharding_codec({3, 1}, kPlain, kPlain, "start")}),
  };
  const std::vector<std::string> index{
      kPlain,
      index_codecs(),
      codec_list({bytes_codec("big")}),
      codec_list({bytes_codec("big"), codec("crc32c"), codec("crc32c")}),
      codec_list({transpose_codec({2, 0, 1}), bytes_codec()}),
      codec_list({bytes_codec(), codec("numcodecs.crc32c", R"("location": "start")")}),
  };
  for (const std::string& codecs : inner) {
    for (const std::string& chain : index) {
      for (const char* location : {"start", "end"}) {
        SCOPED_TRACE(codecs + " " + chain + " " + location);
        const CodecChain sharded = make_sharded(codecs, chain, location);
        EXPECT_EQ(to_bytes(sharded.decode(sharded.encode(chunk).span()).elements.span()), chunk);
      }
    }
  }
}

TEST(Sharding, RoundTripsBetweenOtherCodecs) {
  const Bytes chunk = sample_shard();
  const std::string sharding = sharding_codec({3, 2}, kGzipped, index_codecs());
  for (const std::string& codecs :
       {codec_list({transpose_codec({1, 0}), sharding}),
        codec_list({sharding_codec({2, 3}, kPlain, kPlain), codec("gzip")}),
        codec_list({sharding_codec({2, 3}, kPlain, kPlain), codec("crc32c"), codec("crc32c")}),
        codec_list({transpose_codec({1, 0}), sharding, codec("crc32c"), codec("zstd")})}) {
    SCOPED_TRACE(codecs);
    const CodecChain chain = make_chain(codecs, spec_of({4, 6}, kInt16));
    EXPECT_EQ(to_bytes(chain.decode(chain.encode(chunk).span()).elements.span()), chunk);
  }
}

TEST(Sharding, TheEncodedIndexSizeIsThatOfTheIndexChain) {
  const auto size = [](std::string_view index) {
    return make_sharded(kPlain, index).sharding()->encoded_index_size();
  };
  EXPECT_EQ(size(kPlain), 64);
  EXPECT_EQ(size(index_codecs()), 68);
  EXPECT_EQ(size(codec_list({bytes_codec("big"), codec("crc32c"), codec("crc32c")})), 72);
}

TEST(Sharding, InnerChunksOfFillValuesAreNotStored) {
  Bytes chunk = sample_shard();
  for (const std::size_t row : {0, 1}) {
    std::fill_n(chunk.begin() + static_cast<std::ptrdiff_t>(12 * row), 6, std::byte{0});
  }
  const CodecChain chain = make_sharded(kPlain, kPlain);
  const Buffer shard = chain.encode(chunk);
  EXPECT_EQ(shard.size(), 36 + 64);
  EXPECT_EQ(number_at(shard.span(), 36), UINT64_MAX);
  EXPECT_EQ(number_at(shard.span(), 36 + 8), UINT64_MAX);
  EXPECT_EQ(to_bytes(chain.decode(shard.span()).elements.span()), chunk);
}

TEST(Sharding, NegativeZeroIsNotTheFillValueZero) {
  const CodecChain chain =
      make_chain(codec_list({sharding_codec({1}, kPlain, kPlain)}), spec_of({2}, kFloat64));
  Bytes chunk = bytes_in_memory(-0.0);
  chunk.resize(16);
  EXPECT_EQ(chain.encode(chunk).size(), 8 + 32);
  EXPECT_EQ(to_bytes(chain.decode(chain.encode(chunk).span()).elements.span()), chunk);
}

// A shard of two bytes in two inner chunks, with an index of the writer's choice.
Bytes make_shard(std::string_view payload, const std::vector<std::uint64_t>& index) {
  Bytes shard = bytes_of(payload);
  for (const std::uint64_t number : index) {
    Bytes encoded(8);
    store_integer(number, Endian::little, encoded.data());
    shard.insert(shard.end(), encoded.begin(), encoded.end());
  }
  return shard;
}

CodecChain make_small() {
  return make_chain(codec_list({sharding_codec({1}, R"(["bytes"])", kPlain)}), spec_of({2}));
}

std::string decoded_small(const Bytes& shard) {
  return std::string(make_small().decode(shard).elements.text());
}

TEST(Sharding, GapsAnyOrderAndOverlapsAreFine) {
  EXPECT_EQ(decoded_small(make_shard("ab", {0, 1, 1, 1})), "ab");
  EXPECT_EQ(decoded_small(make_shard("ab", {1, 1, 0, 1})), "ba");
  EXPECT_EQ(decoded_small(make_shard("..a...b.", {2, 1, 6, 1})), "ab");
  EXPECT_EQ(decoded_small(make_shard("a", {0, 1, 0, 1})), "aa");
  const std::string missing("a\0", 2);
  EXPECT_EQ(decoded_small(make_shard("a", {0, 1, UINT64_MAX, UINT64_MAX})), missing);
}

TEST(Sharding, AnIndexThatPointsOutsideIsAnErrorThatNamesTheInnerChunk) {
  for (const std::uint64_t offset : {34, 35, 1000}) {
    EXPECT_ERROR(decoded_small(make_shard("ab", {0, 1, offset, 1})),
                 "inner chunk 1 has 1 bytes at offset " + std::to_string(offset));
  }
  EXPECT_ERROR(decoded_small(make_shard("ab", {0, 1000, 1, 1})), "inner chunk 0 has 1000 bytes");
}

TEST(Sharding, HugeNumbersInAnIndexAreAnErrorThatNamesTheInnerChunk) {
  for (const auto& [offset, length] : {std::pair<std::uint64_t, std::uint64_t>{UINT64_MAX, 1},
                                       {1, UINT64_MAX},
                                       {UINT64_MAX - 1, 2},
                                       {UINT64_MAX / 2 + 1, UINT64_MAX / 2 + 1}}) {
    EXPECT_ERROR(decoded_small(make_shard("ab", {0, 1, offset, length})),
                 "shard index: inner chunk 1 is said to have " + std::to_string(length) +
                     " bytes at offset " + std::to_string(offset));
  }
  EXPECT_ERROR(decoded_small(make_shard("ab", {0, 1, UINT64_MAX - 1, 1})), "inner chunk 1");
}

TEST(Sharding, AShardShorterThanItsIndexIsAnError) {
  EXPECT_ERROR(decoded_small(Bytes(31)), "a shard of 31 bytes");
  EXPECT_ERROR(decoded_small({}), "a shard of 0 bytes");
}

TEST(Sharding, AnIndexWithAWrongChecksumIsAnError) {
  const CodecChain chain = make_sharded(kPlain, index_codecs());
  Bytes shard = to_bytes(chain.encode(sample_shard()).span());
  shard.back() ^= std::byte{1};
  EXPECT_ERROR(chain.decode(shard), "shard index: crc32c: the checksum is wrong");
}

TEST(Sharding, AnInnerChunkOfAnotherSizeIsAnErrorThatNamesIt) {
  EXPECT_ERROR(decoded_small(make_shard("abc", {0, 1, 1, 2})),
               "inner chunk 1 has 2 bytes at offset 1");
  EXPECT_ERROR(decoded_small(make_shard("abc", {0, 0, 1, 1})),
               "inner chunk 0: the chunk has 0 bytes where 1 are expected");
}

void expect_refused(std::string_view configuration, std::string_view problem) {
  const std::string codecs = codec_list({codec("sharding_indexed", configuration)});
  EXPECT_ERROR(make_chain(codecs, spec_of({4, 6}, kInt16)),
               "codec \"sharding_indexed\": ", problem);
}

TEST(Sharding, RefusesConfigurationsThatAreNone) {
  const std::string lists = R"("codecs": )" + kPlain + R"(, "index_codecs": )" + kPlain;
  expect_refused(lists, "\"chunk_shape\" is missing");
  expect_refused(R"("chunk_shape": 2, )" + lists, "\"chunk_shape\" is an integer");
  expect_refused(R"("chunk_shape": [2], )" + lists,
                 "\"chunk_shape\" has 1 dimensions, the shard 2");
  expect_refused(R"("chunk_shape": [2, 0], )" + lists, "inner chunk length 0 of dimension 1");
  expect_refused(R"("chunk_shape": [3, 3], )" + lists, "inner chunk length 3 of dimension 0");
  expect_refused(R"("chunk_shape": [8, 6], )" + lists, "does not divide the shard's, 4");
  expect_refused(R"("chunk_shape": [2, -3], )" + lists, "\"chunk_shape\" is -3");
  expect_refused(R"("chunk_shape": [2, 3], "codecs": )" + kPlain, "\"index_codecs\" is missing");
  expect_refused(R"("chunk_shape": [2, 3], "index_codecs": )" + kPlain, "\"codecs\" is missing");
  expect_refused(R"("chunk_shape": [2, 3], "codecs": {}, "index_codecs": )" + kPlain,
                 "\"codecs\" is an object");
  expect_refused(R"("chunk_shape": [2, 3], "codecs": ["snip"], "index_codecs": )" + kPlain,
                 "the codec \"snip\" is not supported");
  expect_refused(R"("chunk_shape": [2, 3], "index_location": "middle", )" + lists,
                 "\"index_location\" is \"middle\", none of start, end");
  expect_refused(R"("chunk_shape": [2, 3], "index_location": 1, )" + lists,
                 "\"index_location\" is 1");
}

TEST(Sharding, RefusesAnIndexWhoseSizeIsNotFixed) {
  expect_refused(
      R"("chunk_shape": [2, 3], "codecs": )" + kPlain + R"(, "index_codecs": )" + kGzipped,
      "\"index_codecs\" do not give an index of fixed size");
}

TEST(Sharding, TheIndexStandsAtTheEndUnlessItIsSaidOtherwise) {
  const CodecChain chain =
      make_chain(codec_list({codec("sharding_indexed", R"("chunk_shape": [1], "codecs": ["bytes"],
                                               "index_codecs": )" +
                                                           kPlain)}),
                 spec_of({2}));
  EXPECT_TRUE(chain.sharding()->index_at_end());
}

// Room for what makes chunks larger is not multiplied by them: not by the inner chunks, nor by the
// shards around them.
TEST(Sharding, ManyInnerChunksDoNotMakeAShardLarge) {
  std::string codecs = codec_list({bytes_codec(), codec("gzip")});
  for (int level = 0; level < 10; ++level) {
    codecs = codec_list({sharding_codec({1}, codecs, index_codecs()), codec("gzip")});
  }
  codecs = codec_list({sharding_codec({1}, codecs, index_codecs()), codec("gzip")});
  const CodecChain chain = make_chain(codecs, spec_of({1024}));
  EXPECT_LT(chain.max_encoded_size(), 32 << 20);
  const auto gzip = make_bytes_to_bytes("gzip");
  EXPECT_ERROR(chain.decode(gzip->encode(Bytes(40 << 20)).span()), "gzip: more than the");
}

TEST(Sharding, InnerChunksOfOneElementEachRoundTripCompressed) {
  const CodecChain chain = make_chain(
      codec_list({sharding_codec({1}, codec_list({bytes_codec(), codec("zstd")}), index_codecs()),
                  codec("gzip")}),
      spec_of({20000}));
  Random random(14);
  const Bytes chunk = random_bytes(random, 20000);
  EXPECT_EQ(to_bytes(chain.decode(chain.encode(chunk).span()).elements.span()), chunk);
}

TEST(Sharding, ChunksOfAZeroLengthHaveNoInnerChunks) {
  for (const Shape& inner : {Shape{0, 3}, Shape{5, 3}}) {
    const CodecChain chain = make_chain(codec_list({sharding_codec(inner, kPlain, index_codecs())}),
                                        spec_of({0, 6}, kInt16));
    EXPECT_EQ(chain.encode(ByteSpan{}).size(), 4);
    EXPECT_EQ(chain.decode(chain.encode(ByteSpan{}).span()).elements.size(), 0);
  }
}

TEST(Sharding, CorruptShardsNeverReachOutsideTheDestination) {
  Random random(15);
  const Bytes chunk = sample_shard();
  for (const std::string& codecs :
       {codec_list({sharding_codec({2, 3}, kGzipped, kPlain)}),
        codec_list({sharding_codec(
            {2, 3}, codec_list({sharding_codec({1, 3}, kPlain, kPlain, "start")}), kPlain)})}) {
    const CodecChain chain = make_chain(codecs, spec_of({4, 6}, kInt16));
    const Bytes shard = to_bytes(chain.encode(chunk).span());
    for (int round = 0; round < 3000; ++round) {
      Bytes corrupt = shard;
      for (std::uint64_t i = random_number(random, 1, 3); i > 0; --i) {
        corrupt[random_number(random, 0, corrupt.size() - 1)] =
            static_cast<std::byte>(random() & 0xff);
      }
      if (round % 3 == 0) corrupt.resize(random_number(random, 0, corrupt.size()));
      Bytes memory(16 + 48 + 16, std::byte{0xee});
      try {
        Arena arena;
        chain.decode(corrupt, std::span(memory).subspan(16, 48), arena);
      } catch (const Error&) {
      }
      EXPECT_EQ(Bytes(memory.begin(), memory.begin() + 16), Bytes(16, std::byte{0xee}));
      EXPECT_EQ(Bytes(memory.end() - 16, memory.end()), Bytes(16, std::byte{0xee}));
    }
  }
}

}  // namespace
}  // namespace zarrcore::test::sharding_test
