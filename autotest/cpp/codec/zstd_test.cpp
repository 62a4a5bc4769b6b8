#include <gtest/gtest.h>

#include <thread>

#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/codecs.h"
#include "autotest/cpp/support/expect_error.h"

namespace zarrcore::test::zstd_test {
namespace {

// regular_bytes(300), compressed by the zstd program from a pipe: without a content size, with a
// checksum.
constexpr const char* kFromPipe =
    "28b52ffd0458450300140300000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122"
    "232425262728292a2a2a2a2a2a2a100043c60d3664dc6043c60d3664dc6043c60d3664dc6043c60d3664dc6043c60d"
    "3664dc6043c60d3664dc6043c60d3664ee8505420d1305";
// The same, compressed by numcodecs: with a content size, without a checksum.
constexpr const char* kFromNumcodecs =
    "28b52ffd602c00450300140300000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f2021"
    "22232425262728292a2a2a2a2a2a2a100043c60d3664dc6043c60d3664dc6043c60d3664dc6043c60d3664dc6043c6"
    "0d3664dc6043c60d3664dc6043c60d3664ee8505";
// A frame that decoders skip (RFC 8878, section 3.1.2), with 3 bytes.
constexpr const char* kSkippable = "502a4d1803000000010203";

TEST(Zstd, DecodesFramesWithAndWithoutContentSize) {
  const auto codec = make_bytes_to_bytes("zstd");
  for (const char* frame : {kFromPipe, kFromNumcodecs}) {
    EXPECT_EQ(decoded_by(*codec, from_hex(frame), 300), regular_bytes(300));
    EXPECT_EQ(to_bytes(codec->decode(from_hex(frame), 1000).span()), regular_bytes(300));
  }
}

// Each block of a frame could make 128 KiB.
TEST(Zstd, FramesWithoutContentSizeTakeMemoryAsTheyGrow) {
  const auto codec = make_bytes_to_bytes("zstd");
  EXPECT_LT(codec->decode(from_hex(kFromPipe), 1 << 30).capacity(), 1000);
  // A block of 1000 equal bytes.
  const Bytes repeated = from_hex("28b52ffd0058431f0007");
  EXPECT_EQ(to_bytes(codec->decode(repeated, 1 << 30).span()), Bytes(1000, std::byte{7}));
  EXPECT_ERROR(codec->decode(repeated, 999), "zstd: more than the 999 bytes that can be right");
}

TEST(Zstd, FramesMayFollowEachOther) {
  const auto codec = make_bytes_to_bytes("zstd");
  const Bytes encoded = from_hex(std::string(kFromPipe) + kSkippable + kFromNumcodecs);
  Bytes twice = regular_bytes(300);
  const Bytes once = twice;
  twice.insert(twice.end(), once.begin(), once.end());
  EXPECT_GE(codec->max_decoded_size(encoded), 600);
  EXPECT_EQ(decoded_by(*codec, encoded, 600), twice);
  EXPECT_EQ(to_bytes(codec->decode(encoded, 600).span()), twice);
  EXPECT_ERROR(decoded_by(*codec, encoded, 300), "zstd: ");
}

TEST(Zstd, AWrongChecksumIsAnError) {
  const auto codec = make_bytes_to_bytes("zstd");
  Bytes encoded = from_hex(kFromPipe);
  encoded.back() ^= std::byte{1};
  EXPECT_ERROR(decoded_by(*codec, encoded, 300), "zstd: ", "checksum");
}

TEST(Zstd, TheChecksumIsWrittenWhenItIsAskedFor) {
  const Bytes bytes = regular_bytes(300);
  const auto plain = make_bytes_to_bytes("zstd", R"({"level": 1, "checksum": false})");
  const auto checked = make_bytes_to_bytes("zstd", R"({"level": 1, "checksum": true})");
  EXPECT_EQ(checked->encode(bytes).size(), plain->encode(bytes).size() + 4);
}

// A thread compresses all its chunks with what it has made for the first.
TEST(Zstd, WhatAThreadHasCompressedBeforeChangesNothing) {
  const Bytes bytes = regular_bytes(100000);
  std::vector<std::unique_ptr<const BytesToBytesCodec>> codecs;
  for (const char* configuration :
       {R"({"level": 1, "checksum": true})", R"({"level": 19})", R"({"level": -5})", "{}",
        R"({"level": 3, "checksum": true})", R"({"level": 1})"}) {
    codecs.push_back(make_bytes_to_bytes("zstd", configuration));
  }
  for (const auto& codec : codecs) {
    Bytes in_fresh_thread;
    std::thread([&] { in_fresh_thread = to_bytes(codec->encode(bytes).span()); }).join();
    EXPECT_EQ(to_bytes(codec->encode(bytes).span()), in_fresh_thread);
  }
}

TEST(Zstd, AStatedContentSizeIsNoReasonToAskForMemory) {
  // A frame header that states 2^62 bytes of content.
  const Bytes encoded = from_hex("28b52ffde00000000000000040010000");
  const auto codec = make_bytes_to_bytes("zstd");
  EXPECT_ERROR(codec->decode(encoded, 1000), "zstd: ");
  EXPECT_ERROR(decoded_by(*codec, encoded, 1000), "zstd: ");
}

TEST(Zstd, BytesPastTheEndAreAnError) {
  const auto codec = make_bytes_to_bytes("zstd");
  for (const char* rest : {"00", "28b52f", "a5a5a5a5a5a5a5a5"}) {
    const Bytes encoded = from_hex(std::string(kFromNumcodecs) + rest);
    EXPECT_ERROR(decoded_by(*codec, encoded, 300), "zstd: ") << rest;
  }
}

TEST(Zstd, LevelsOutOfRangeDoNotKeepFromDecoding) {
  for (const char* configuration : {R"({"level": 99})", R"({"level": -9223372036854775808})"}) {
    const auto codec = make_bytes_to_bytes("zstd", configuration);
    EXPECT_EQ(decoded_by(*codec, codec->encode(regular_bytes(300)).span(), 300),
              regular_bytes(300));
  }
}

TEST(Zstd, TheFirstBytesAreDecodedWithoutTheRest) {
  const auto codec = make_bytes_to_bytes("zstd", R"({"level": 3})");
  const std::size_t step = memory_size(*codec->prefix_step());
  Random random(5);
  Bytes bytes = random_bytes(random, 4 * step + 1000);
  for (std::size_t i = 0; i < bytes.size(); i += 2) bytes[i] = std::byte{1};
  const Bytes encoded = to_bytes(codec->encode(bytes).span());
  for (const std::size_t size : {step, 2 * step, 3 * step, 4 * step, bytes.size()}) {
    Bytes prefix(size);
    ASSERT_TRUE(codec->decode_prefix(encoded, bytes.size(), prefix));
    EXPECT_EQ(prefix, Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)));
  }
  Bytes damaged = encoded;
  std::fill(damaged.begin() + 20, damaged.end(), std::byte{0xff});
  Bytes prefix(step);
  EXPECT_FALSE(codec->decode_prefix(damaged, bytes.size(), prefix));
  EXPECT_FALSE(
      codec->decode_prefix(ByteSpan(encoded).first(encoded.size() - 1), bytes.size(), prefix));
  // What a context has decoded before changes nothing.
  EXPECT_EQ(decoded_by(*codec, encoded, bytes.size()), bytes);
}

TEST(Zstd, OnlyFramesThatAreAloneAndHaveNoChecksumAreDecodedInPart) {
  const auto codec = make_bytes_to_bytes("zstd");
  Bytes prefix(100);
  EXPECT_TRUE(codec->decode_prefix(from_hex(kFromNumcodecs), 300, prefix));
  EXPECT_EQ(prefix, regular_bytes(100));
  EXPECT_FALSE(codec->decode_prefix(from_hex(kFromNumcodecs), 301, prefix));
  EXPECT_FALSE(codec->decode_prefix(from_hex(kFromPipe), 300, prefix));
  const std::string two = std::string(kFromNumcodecs) + kSkippable;
  EXPECT_FALSE(codec->decode_prefix(from_hex(two), 300, prefix));
  EXPECT_FALSE(codec->decode_prefix(Bytes(3), 300, prefix));
  const auto checked = make_bytes_to_bytes("zstd", R"({"checksum": true})");
  EXPECT_FALSE(checked->decode_prefix(checked->encode(regular_bytes(300)).span(), 300, prefix));
}

TEST(Zstd, RefusesConfigurationsThatAreNone) {
  EXPECT_ERROR(make_bytes_to_bytes("zstd", R"({"level": "3"})"), "\"level\" is \"3\"");
  EXPECT_ERROR(make_bytes_to_bytes("zstd", R"({"checksum": 1})"), "\"checksum\" is 1");
}

}  // namespace
}  // namespace zarrcore::test::zstd_test
