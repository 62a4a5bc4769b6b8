// The gzip and zlib codecs.
#include <gtest/gtest.h>

#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/codecs.h"
#include "autotest/cpp/support/expect_error.h"

namespace zarrcore::test::deflate_test {
namespace {

// regular_bytes(300), compressed by gzip 1.12.
constexpr const char* kGzip =
    "1f8b080000000000000325c10b1281500000c02814915f229150e4fe0734f376378a820953621266cc599092b16445"
    "ce9a0d055b76ec3970a4e444c5990b35571a6edc6979d0f1e4c59b9e810f5f467ec11fde5f61132c010000";
// The same, compressed by zlib 1.2.13.
constexpr const char* kZlib =
    "789c25c10b1281500000c02814915f229150e4fe0734f376378a820953621266cc599092b16445ce9a0d055b76ec39"
    "70a4e444c5990b35571a6edc6979d0f1e4c59b9e810f5f467ec11f85eb1888";

TEST(Gzip, DecodesWhatGzipWrote) {
  const auto codec = make_bytes_to_bytes("gzip");
  EXPECT_EQ(decoded_by(*codec, from_hex(kGzip), 300), regular_bytes(300));
}

TEST(Zlib, DecodesWhatZlibWrote) {
  const auto codec = make_bytes_to_bytes("zlib");
  EXPECT_EQ(decoded_by(*codec, from_hex(kZlib), 300), regular_bytes(300));
}

TEST(Gzip, MembersMayFollowEachOther) {
  const auto codec = make_bytes_to_bytes("gzip");
  Bytes encoded = from_hex(kGzip);
  const Bytes member = encoded;
  encoded.insert(encoded.end(), member.begin(), member.end());
  Bytes twice = regular_bytes(300);
  const Bytes once = twice;
  twice.insert(twice.end(), once.begin(), once.end());
  EXPECT_EQ(decoded_by(*codec, encoded, 600), twice);
  EXPECT_EQ(to_bytes(codec->decode(encoded, 600).span()), twice);
  EXPECT_ERROR(decoded_by(*codec, encoded, 300), "gzip: more than the expected 300 bytes");
  EXPECT_ERROR(decoded_by(*codec, encoded, 700), "gzip: 600 bytes where 700 are expected");
}

TEST(Gzip, ChangedDataNeverPassesForOtherValues) {
  const auto codec = make_bytes_to_bytes("gzip");
  const Bytes encoded = from_hex(kGzip);
  for (std::size_t i = 0; i < encoded.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      Bytes changed = encoded;
      changed[i] ^= std::byte{1} << bit;
      try {
        // A few bits say nothing: the time in the header, codes that do not occur.
        EXPECT_EQ(decoded_by(*codec, changed, 300), regular_bytes(300));
      } catch (const Error&) {
      }
    }
  }
}

TEST(Gzip, TheSmallestDataOfManyBytesDecodes) {
  const auto codec = make_bytes_to_bytes("gzip", R"({"level": 9})");
  const Bytes zeros(5000000);
  const Buffer encoded = codec->encode(zeros);
  EXPECT_GE(codec->max_decoded_size(encoded.span()), zeros.size());
  EXPECT_EQ(to_bytes(codec->decode(encoded.span(), zeros.size()).span()), zeros);
}

TEST(Deflate, TheWrappersAreNotMixedUp) {
  EXPECT_ERROR(decoded_by(*make_bytes_to_bytes("gzip"), from_hex(kZlib), 300),
               "gzip: the data is corrupt");
  EXPECT_ERROR(decoded_by(*make_bytes_to_bytes("zlib"), from_hex(kGzip), 300),
               "zlib: the data is corrupt");
}

TEST(Deflate, WhatMayFollowTheDataIsWhatPythonIgnores) {
  const auto gzip = make_bytes_to_bytes("gzip");
  EXPECT_EQ(decoded_by(*gzip, from_hex(std::string(kGzip) + "0000"), 300), regular_bytes(300));
  EXPECT_ERROR(decoded_by(*gzip, from_hex(std::string(kGzip) + "0001"), 300), "gzip: ");
  EXPECT_ERROR(decoded_by(*gzip, from_hex(std::string(kGzip) + "1f8b08"), 300), "gzip: ");
  const auto zlib = make_bytes_to_bytes("zlib");
  EXPECT_EQ(decoded_by(*zlib, from_hex(std::string(kZlib) + "a5"), 300), regular_bytes(300));
}

TEST(Deflate, LevelsOutOfRangeDoNotKeepFromDecoding) {
  for (const char* name : {"gzip", "zlib", "numcodecs.gzip", "numcodecs.zlib"}) {
    for (const char* configuration : {R"({"level": 99})", R"({"level": -1})"}) {
      const auto codec = make_bytes_to_bytes(name, configuration);
      EXPECT_EQ(decoded_by(*codec, codec->encode(regular_bytes(300)).span(), 300),
                regular_bytes(300));
    }
  }
}

TEST(Deflate, RefusesALevelThatIsNone) {
  for (const char* name : {"gzip", "zlib", "numcodecs.gzip", "numcodecs.zlib"}) {
    EXPECT_ERROR(make_bytes_to_bytes(name, R"({"level": "5"})"), "\"level\" is \"5\"");
    EXPECT_ERROR(make_bytes_to_bytes(name, R"({"level": 5.0})"), "\"level\" is 5.0");
  }
}

}  // namespace
}  // namespace zarrcore::test::deflate_test
