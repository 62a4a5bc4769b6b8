#include <gtest/gtest.h>

#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/codecs.h"
#include "autotest/cpp/support/expect_error.h"
#include "zarrcore/codec/checksum.h"

namespace zarrcore::test::crc32c_test {
namespace {

TEST(Crc32c, TheVectorsOfTheRfc) {
  // RFC 3720, appendix B.4.
  Bytes up(32);
  for (unsigned i = 0; i < 32; ++i) up[i] = static_cast<std::byte>(i);
  const Bytes down(up.rbegin(), up.rend());
  const std::vector<std::pair<Bytes, const char*>> vectors{
      {Bytes(32), "aa36918a"},
      {Bytes(32, std::byte{0xff}), "43aba862"},
      {up, "4e79dd46"},
      {down, "5cdb3f11"},
  };
  const auto codec = make_bytes_to_bytes("crc32c");
  for (const auto& [bytes, checksum] : vectors) {
    const Buffer encoded = codec->encode(bytes);
    EXPECT_EQ(to_bytes(encoded.span().last(4)), from_hex(checksum));
    EXPECT_EQ(to_bytes(encoded.span().first(32)), bytes);
  }
}

// One bit after the other.
std::uint32_t crc32c_by_definition(ByteSpan bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const std::byte byte : bytes) {
    crc ^= std::to_integer<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc % 2 != 0 ? 0x82f63b78 : 0);
  }
  return ~crc;
}

TEST(Crc32c, AnyNumberOfBytesAtAnyAddress) {
  Random random(1);
  const Bytes bytes = random_bytes(random, 100);
  for (std::size_t start = 0; start < 8; ++start) {
    for (std::size_t size = 0; size <= bytes.size() - start; ++size) {
      const ByteSpan part = ByteSpan(bytes).subspan(start, size);
      const std::uint32_t expected = crc32c_by_definition(part);
      ASSERT_EQ(crc32c(part), expected) << size << " bytes from " << start;
      ASSERT_EQ(crc32c_by_tables(part), expected) << size << " bytes from " << start;
    }
  }
}

TEST(Crc32c, NumcodecsMayPutTheChecksumFirst) {
  const auto codec = make_bytes_to_bytes("numcodecs.crc32c", R"({"location": "start"})");
  const Buffer encoded = codec->encode(Bytes(32));
  EXPECT_EQ(to_bytes(encoded.span().first(4)), from_hex("aa36918a"));
  EXPECT_EQ(to_bytes(codec->unframe(encoded.span())), Bytes(32));
}

TEST(Crc32c, EveryChangedByteIsFound) {
  const auto codec = make_bytes_to_bytes("crc32c");
  const Bytes encoded = to_bytes(codec->encode(regular_bytes(100)).span());
  for (std::size_t i = 0; i < encoded.size(); ++i) {
    Bytes changed = encoded;
    changed[i] ^= std::byte{0x10};
    EXPECT_ERROR(decoded_by(*codec, changed, 100), "crc32c: the checksum is wrong");
  }
}

TEST(Crc32c, TooFewBytesForAChecksumAreAnError) {
  const auto codec = make_bytes_to_bytes("crc32c");
  EXPECT_ERROR(decoded_by(*codec, Bytes(3), 0), "crc32c: 3 bytes are too few");
}

TEST(Crc32c, BytesPastTheEndAreAnError) {
  const auto codec = make_bytes_to_bytes("crc32c");
  Bytes encoded = to_bytes(codec->encode(regular_bytes(100)).span());
  encoded.push_back(std::byte{0});
  EXPECT_ERROR(decoded_by(*codec, encoded, 100), "crc32c: the checksum is wrong");
}

TEST(Crc32c, DeclaresItsFrame) {
  const auto at_end = make_bytes_to_bytes("crc32c");
  EXPECT_EQ(at_end->framing()->prefix, 0);
  EXPECT_EQ(at_end->framing()->suffix, 4);
  EXPECT_EQ(at_end->encoded_size(100), 104);
  const auto at_start = make_bytes_to_bytes("numcodecs.crc32c", R"({"location": "start"})");
  EXPECT_EQ(at_start->framing()->prefix, 4);
  EXPECT_EQ(at_start->framing()->suffix, 0);
}

TEST(Crc32c, RefusesALocationThatIsNone) {
  EXPECT_ERROR(make_bytes_to_bytes("crc32c", R"({"location": "middle"})"),
               "\"location\" is \"middle\"");
  EXPECT_ERROR(make_bytes_to_bytes("crc32c", R"({"location": 1})"), "\"location\" is 1");
}

}  // namespace
}  // namespace zarrcore::test::crc32c_test
