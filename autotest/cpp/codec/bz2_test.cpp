#include <gtest/gtest.h>

#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/codecs.h"
#include "autotest/cpp/support/expect_error.h"

namespace zarrcore::test::bz2_test {
namespace {

// numcodecs.BZ2(9).encode(bytes(i // 7 % 50 for i in range(300)))
constexpr const char* kEncoded =
    "425a6839314159265359c80ac6b100000070007ffffffffff020008833d314069a01a641a0000effcaa91919313434"
    "c9a308c9bff5550d0500441f098198903cfc10c51c8995534f45355762ed636ebf0c5d967a6bb6fc73d7e7eff75e85"
    "0c30c30c30c30c30c30c30c30c30c30c30c30c30c30c30c30c30c30f51ff177245385090c80ac6b1";

TEST(Bz2, DecodesWhatNumcodecsWrote) {
  const auto codec = make_bytes_to_bytes("numcodecs.bz2");
  EXPECT_EQ(decoded_by(*codec, from_hex(kEncoded), 300), regular_bytes(300));
  EXPECT_EQ(to_bytes(codec->decode(from_hex(kEncoded), 1000).span()), regular_bytes(300));
}

TEST(Bz2, EncodesToTheSameBytes) {
  const auto codec = make_bytes_to_bytes("numcodecs.bz2", R"({"level": 9})");
  EXPECT_EQ(to_bytes(codec->encode(regular_bytes(300)).span()), from_hex(kEncoded));
}

TEST(Bz2, StreamsMayFollowEachOther) {
  const auto codec = make_bytes_to_bytes("numcodecs.bz2");
  const Bytes encoded = from_hex(std::string(kEncoded) + kEncoded);
  Bytes twice = regular_bytes(300);
  const Bytes once = twice;
  twice.insert(twice.end(), once.begin(), once.end());
  EXPECT_EQ(decoded_by(*codec, encoded, 600), twice);
  EXPECT_EQ(to_bytes(codec->decode(encoded, 600).span()), twice);
  EXPECT_ERROR(decoded_by(*codec, encoded, 300), "bz2: more than the expected 300 bytes");
  EXPECT_ERROR(decoded_by(*codec, encoded, 700), "bz2: 600 bytes where 700 are expected");
  EXPECT_ERROR(codec->decode(encoded, 599), "bz2: more than the 599 bytes that can be right");
}

TEST(Bz2, WhatFollowsAndIsNoStreamIsIgnoredAsByPython) {
  const auto codec = make_bytes_to_bytes("numcodecs.bz2");
  EXPECT_EQ(decoded_by(*codec, from_hex(std::string(kEncoded) + "00a5"), 300), regular_bytes(300));
  EXPECT_ERROR(decoded_by(*codec, from_hex(std::string(kEncoded) + "425a68"), 300),
               "bz2: the data ends too early");
}

TEST(Bz2, EveryChangeOfTheDataIsFound) {
  const auto codec = make_bytes_to_bytes("numcodecs.bz2");
  const Bytes encoded = from_hex(kEncoded);
  for (std::size_t i = 4; i < encoded.size() - 1; ++i) {
    Bytes changed = encoded;
    changed[i] ^= std::byte{0x10};
    EXPECT_ERROR(decoded_by(*codec, changed, 300), "bz2: ") << i;
  }
}

TEST(Bz2, TheSmallestDataOfManyBytesDecodes) {
  const auto codec = make_bytes_to_bytes("numcodecs.bz2", R"({"level": 9})");
  const Bytes zeros(100'000'000);
  const Buffer encoded = codec->encode(zeros);
  EXPECT_GE(codec->max_decoded_size(encoded.span()), zeros.size());
  EXPECT_EQ(to_bytes(codec->decode(encoded.span(), zeros.size()).span()), zeros);
}

TEST(Bz2, LevelsOutOfRangeDoNotKeepFromDecoding) {
  for (const char* configuration : {R"({"level": 0})", R"({"level": 99})"}) {
    const auto codec = make_bytes_to_bytes("numcodecs.bz2", configuration);
    EXPECT_EQ(decoded_by(*codec, codec->encode(regular_bytes(300)).span(), 300),
              regular_bytes(300));
  }
  EXPECT_ERROR(make_bytes_to_bytes("numcodecs.bz2", R"({"level": "5"})"), R"("level" is "5")");
}

}  // namespace
}  // namespace zarrcore::test::bz2_test
