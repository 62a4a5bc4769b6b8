#include <gtest/gtest.h>

#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/codecs.h"
#include "autotest/cpp/support/expect_error.h"

namespace zarrcore::test::lz4_test {
namespace {

// numcodecs.LZ4().encode(bytes([7] * 100 + [1, 2, 3])).hex()
constexpr const char* kEncoded = "670000001f0701004e500707010203";

Bytes decoded_example() {
  Bytes bytes(100, std::byte{7});
  for (const unsigned byte : {1, 2, 3}) bytes.push_back(static_cast<std::byte>(byte));
  return bytes;
}

TEST(Lz4, DecodesWhatNumcodecsWrote) {
  const auto codec = make_bytes_to_bytes("numcodecs.lz4");
  EXPECT_EQ(decoded_by(*codec, from_hex(kEncoded), 103), decoded_example());
  EXPECT_EQ(to_bytes(codec->decode(from_hex(kEncoded), 1000).span()), decoded_example());
}

TEST(Lz4, NothingIsASizeOfZeroAndAnEmptyBlock) {
  // numcodecs.LZ4().encode(b'')
  const auto codec = make_bytes_to_bytes("numcodecs.lz4");
  EXPECT_EQ(to_bytes(codec->encode({}).span()), from_hex("0000000000"));
  EXPECT_EQ(decoded_by(*codec, from_hex("0000000000"), 0), Bytes());
}

TEST(Lz4, ASizeThatIsNotThatOfTheBlockIsAnError) {
  const auto codec = make_bytes_to_bytes("numcodecs.lz4");
  Bytes encoded = from_hex(kEncoded);
  EXPECT_ERROR(decoded_by(*codec, encoded, 104), "lz4: 103 bytes where 104 are expected");
  for (const int difference : {-1, 1}) {
    Bytes changed = encoded;
    changed[0] = static_cast<std::byte>(103 + difference);
    EXPECT_ERROR(decoded_by(*codec, changed, static_cast<std::size_t>(103 + difference)),
                 "lz4: the data is corrupt");
  }
  encoded.push_back(std::byte{0});
  EXPECT_ERROR(decoded_by(*codec, encoded, 103), "lz4: the data is corrupt");
}

TEST(Lz4, AFewBytesCannotDemandMuchMemory) {
  const auto codec = make_bytes_to_bytes("numcodecs.lz4");
  const Bytes huge = from_hex("ffffff7f1f00");
  EXPECT_LE(codec->max_decoded_size(huge), 6u * 255);
  EXPECT_ERROR(codec->decode(huge, UINT64_MAX), "lz4: 2147483647 bytes where ");
  const Bytes negative = from_hex("ffffffff1f00");
  EXPECT_ERROR(codec->max_decoded_size(negative), "lz4: the data is corrupt");
  EXPECT_ERROR(codec->decode(from_hex("000000"), 10), "lz4: 3 bytes are too few");
}

TEST(Lz4, TheSmallestDataOfManyBytesDecodes) {
  const auto codec = make_bytes_to_bytes("numcodecs.lz4");
  const Bytes zeros(20'000'000);
  const Buffer encoded = codec->encode(zeros);
  EXPECT_EQ(codec->max_decoded_size(encoded.span()), zeros.size());
  EXPECT_EQ(to_bytes(codec->decode(encoded.span(), zeros.size()).span()), zeros);
}

TEST(Lz4, AnyAccelerationEncodes) {
  for (const char* configuration :
       {"{}", R"({"acceleration": 0})", R"({"acceleration": 9223372036854775807})"}) {
    const auto codec = make_bytes_to_bytes("numcodecs.lz4", configuration);
    EXPECT_EQ(decoded_by(*codec, codec->encode(regular_bytes(999)).span(), 999),
              regular_bytes(999));
  }
  EXPECT_ERROR(make_bytes_to_bytes("numcodecs.lz4", R"({"acceleration": true})"),
               "\"acceleration\" is true");
}

}  // namespace
}  // namespace zarrcore::test::lz4_test
