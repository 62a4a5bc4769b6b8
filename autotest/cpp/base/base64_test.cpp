#include <gtest/gtest.h>

#include "autotest/cpp/support/bytes.h"
#include "zarrcore/base/text.h"

namespace zarrcore::test::base64_test {
namespace {

// RFC 4648, section 10.
struct Vector {
  std::string_view plain;
  std::string_view encoded;
};
constexpr Vector kVectors[] = {
    {"", ""},
    {"f", "Zg=="},
    {"fo", "Zm8="},
    {"foo", "Zm9v"},
    {"foob", "Zm9vYg=="},
    {"fooba", "Zm9vYmE="},
    {"foobar", "Zm9vYmFy"},
};

TEST(Base64, EncodesTheVectorsOfTheRfc) {
  for (const Vector& vector : kVectors) {
    EXPECT_EQ(encode_base64(bytes_of(vector.plain)), vector.encoded);
  }
}

TEST(Base64, DecodesTheVectorsOfTheRfc) {
  for (const Vector& vector : kVectors) {
    EXPECT_EQ(decode_base64(vector.encoded), bytes_of(vector.plain));
  }
}

TEST(Base64, ForgivesMissingPadding) {
  EXPECT_EQ(decode_base64("Zg"), bytes_of("f"));
  EXPECT_EQ(decode_base64("Zm8"), bytes_of("fo"));
}

TEST(Base64, RefusesWhatIsNotBase64) {
  for (const std::string_view text : {"Z", "Zm9vY", "Zm9v!", "Zm 9v", "Zg==Zg==", "Zm-_", "\xff"}) {
    EXPECT_EQ(decode_base64(text), std::nullopt) << text;
  }
}

TEST(Base64, AllBytesSurviveARoundTrip) {
  Random random(1);
  for (std::size_t size = 0; size < 300; ++size) {
    const Bytes bytes = random_bytes(random, size);
    EXPECT_EQ(decode_base64(encode_base64(bytes)), bytes);
  }
}

}  // namespace
}  // namespace zarrcore::test::base64_test
