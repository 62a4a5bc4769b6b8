// What every bytes-to-bytes codec promises, asked of each.
#include "autotest/cpp/support/bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "autotest/cpp/support/codecs.h"
#include "autotest/cpp/support/expect_error.h"
#include "autotest/cpp/support/vector_registers.h"

namespace zarrcore::test::bytes_to_bytes_test {
namespace {

struct Case {
  const char* label;
  const char* name;
  const char* configuration;
};

void PrintTo(const Case& c, std::ostream* stream) {
  *stream << c.name << ' ' << c.configuration;
}

class BytesToBytes : public testing::TestWithParam<Case> {
 protected:
  std::unique_ptr<const BytesToBytesCodec> codec_ =
      make_bytes_to_bytes(GetParam().name, GetParam().configuration, spec_of({1}, kInt32));
};

INSTANTIATE_TEST_SUITE_P(
    Codecs, BytesToBytes,
    testing::Values(
        Case{"Adler32", "numcodecs.adler32", "{}"}, Case{"Base64", "numcodecs.base64", "{}"},
        Case{"Bz2", "numcodecs.bz2", R"({"level": 1})"}, Case{"Crc32", "numcodecs.crc32", "{}"},
        Case{"Crc32AtEnd", "numcodecs.crc32", R"({"location": "end"})"},
        Case{"Fletcher32", "numcodecs.fletcher32", "{}"},
        Case{"JenkinsLookup3", "numcodecs.jenkins_lookup3", R"({"initval": 1})"},
        Case{"Lz4", "numcodecs.lz4", R"({"acceleration": 1})"},
        Case{"Lz4OfN5", "n5.lz4", R"({"blockSize": 65536})"},
        Case{"LzmaXz", "numcodecs.lzma", R"({"preset": 0})"},
        Case{"LzmaAlone", "numcodecs.lzma", R"({"format": 2, "preset": 0})"},
        Case{"LzmaRaw", "numcodecs.lzma",
             R"({"format": 3, "filters": [{"id": 3, "dist": 4}, {"id": 33, "preset": 0}]})"},
        Case{"Crc32c", "crc32c", "{}"},
        Case{"Crc32cAtStart", "numcodecs.crc32c", R"({"location": "start"})"},
        Case{"Gzip", "gzip", R"({"level": 5})"}, Case{"GzipStored", "gzip", R"({"level": 0})"},
        Case{"NumcodecsGzip", "numcodecs.gzip", R"({"level": -1})"},
        Case{"Zlib", "zlib", R"({"level": 9})"}, Case{"NumcodecsZlib", "numcodecs.zlib", "{}"},
        Case{"Zstd", "zstd", R"({"level": 3, "checksum": false})"},
        Case{"ZstdChecksum", "zstd", R"({"level": -5, "checksum": true})"},
        Case{"NumcodecsZstd", "numcodecs.zstd", R"({"level": 1})"},
        Case{
            "Blosc", "blosc",
            R"({"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 4, "blocksize": 0})"},
        Case{"BloscStored", "blosc",
             R"({"cname": "lz4", "clevel": 0, "shuffle": "noshuffle", "blocksize": 0})"},
        Case{
            "BloscZstdBits", "blosc",
            R"({"cname": "zstd", "clevel": 1, "shuffle": "bitshuffle", "typesize": 2, "blocksize": 256})"},
        Case{"NumcodecsBlosc", "numcodecs.blosc",
             R"({"cname": "zlib", "clevel": 9, "shuffle": -1, "blocksize": 0})"}),
    [](const auto& test) { return test.param.label; });

std::vector<Bytes> samples() {
  Random random(7);
  std::vector<Bytes> all;
  for (const std::size_t size : {0, 1, 2, 3, 7, 64, 1000, 65536, 300007}) {
    all.push_back(regular_bytes(size));
    all.push_back(random_bytes(random, size));
    all.emplace_back(size, std::byte{0});
  }
  return all;
}

TEST_P(BytesToBytes, RoundTripsAllSizes) {
  for (const Bytes& bytes : samples()) {
    const Buffer encoded = codec_->encode(bytes);
    EXPECT_EQ(decoded_by(*codec_, encoded.span(), bytes.size()), bytes) << bytes.size();
    const Buffer decoded = codec_->decode(encoded.span(), bytes.size());
    EXPECT_EQ(to_bytes(decoded.span()), bytes) << bytes.size();
  }
}

// The program's own arithmetic would be slow from then on.
TEST_P(BytesToBytes, LeavesVectorRegistersClean) {
  const Bytes bytes = regular_bytes(65536);
  Bytes decoded(bytes.size());
  std::optional<Buffer> encoded;
  const auto by_encoding = dirties_vector_registers([&] { encoded = codec_->encode(bytes); });
  const auto by_decoding =
      dirties_vector_registers([&] { codec_->decode(encoded->span(), decoded); });
  if (!by_encoding) GTEST_SKIP() << "this processor does not tell";
  EXPECT_EQ(by_encoding, false);
  EXPECT_EQ(by_decoding, false);
}

TEST_P(BytesToBytes, TheEncodedSizeIsTheOneDeclared) {
  for (const Bytes& bytes : samples()) {
    if (const auto size = codec_->encoded_size(bytes.size())) {
      EXPECT_EQ(codec_->encode(bytes).size(), *size);
    }
  }
}

TEST_P(BytesToBytes, TheBoundOfTheDecodedSizeHolds) {
  for (const Bytes& bytes : samples()) {
    EXPECT_GE(codec_->max_decoded_size(codec_->encode(bytes).span()), bytes.size());
  }
}

TEST_P(BytesToBytes, AnotherSizeThanExpectedIsAnError) {
  for (const std::size_t size : {1, 1000, 65536}) {
    const Buffer encoded = codec_->encode(regular_bytes(size));
    EXPECT_ERROR(decoded_by(*codec_, encoded.span(), size - 1), "");
    EXPECT_ERROR(decoded_by(*codec_, encoded.span(), size + 1),
                 std::to_string(size + 1) + " are expected");
  }
}

TEST_P(BytesToBytes, MoreThanIsAllowedIsAnErrorUnlessItIsTheInputItself) {
  if (codec_->framing() != nullptr) return;
  const Buffer encoded = codec_->encode(regular_bytes(1000));
  EXPECT_ERROR(codec_->decode(encoded.span(), 999), "");
  EXPECT_NO_THROW(codec_->decode(encoded.span(), 1000));
  EXPECT_NO_THROW(codec_->decode(encoded.span(), 100000));
}

TEST_P(BytesToBytes, TruncatedBytesAreAnError) {
  const Bytes bytes = regular_bytes(500);
  const Buffer encoded = codec_->encode(bytes);
  for (std::size_t size = 0; size < encoded.size(); ++size) {
    const ByteSpan part = encoded.span().first(size);
    EXPECT_ERROR(decoded_by(*codec_, part, bytes.size()), "") << size;
  }
}

TEST_P(BytesToBytes, CorruptBytesNeverReachOutsideTheDestination) {
  Random random(8);
  const Bytes bytes = regular_bytes(5000);
  const Bytes encoded = to_bytes(codec_->encode(bytes).span());
  constexpr std::size_t kGuard = 64;
  for (int round = 0; round < 2000; ++round) {
    Bytes corrupt = encoded;
    for (std::uint64_t i = random_number(random, 1, 4); i > 0; --i) {
      // Headers are hit more often than chance would have it.
      const std::size_t limit =
          random() % 2 == 0 ? std::min<std::size_t>(24, corrupt.size()) : corrupt.size();
      corrupt[random_number(random, 0, limit - 1)] = static_cast<std::byte>(random() & 0xff);
    }
    Bytes memory(kGuard + bytes.size() + kGuard, std::byte{0xee});
    try {
      codec_->decode(corrupt, std::span(memory).subspan(kGuard, bytes.size()));
    } catch (const Error&) {
    }
    const auto is_untouched = [](std::byte byte) { return byte == std::byte{0xee}; };
    EXPECT_TRUE(std::all_of(memory.begin(), memory.begin() + kGuard, is_untouched));
    EXPECT_TRUE(std::all_of(memory.end() - kGuard, memory.end(), is_untouched));
    try {
      EXPECT_LE(codec_->decode(corrupt, 100000).size(), 100000);
    } catch (const Error&) {
    }
  }
}

TEST_P(BytesToBytes, NoiseIsAnError) {
  Random random(9);
  for (const std::size_t size : {0, 1, 3, 10, 16, 100, 5000}) {
    const Bytes noise = random_bytes(random, size);
    EXPECT_ERROR(decoded_by(*codec_, noise, 5000), "") << size;
    EXPECT_ERROR(decoded_by(*codec_, Bytes(size), 5000), "") << size;
  }
}

}  // namespace
}  // namespace zarrcore::test::bytes_to_bytes_test
