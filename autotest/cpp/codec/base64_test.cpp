#include <gtest/gtest.h>

#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/codecs.h"
#include "autotest/cpp/support/expect_error.h"

namespace zarrcore::test::base64_test {
namespace {

TEST(Base64Codec, TheVectorsOfTheRfc) {
  // RFC 4648, section 10.
  const auto codec = make_bytes_to_bytes("numcodecs.base64");
  for (const auto& [text, encoded] :
       std::vector<std::pair<std::string_view, std::string_view>>{{"", ""},
                                                                  {"f", "Zg=="},
                                                                  {"fo", "Zm8="},
                                                                  {"foo", "Zm9v"},
                                                                  {"foob", "Zm9vYg=="},
                                                                  {"fooba", "Zm9vYmE="},
                                                                  {"foobar", "Zm9vYmFy"}}) {
    EXPECT_EQ(codec->encode(bytes_of(text)).text(), encoded);
    EXPECT_EQ(codec->encoded_size(text.size()), encoded.size());
    EXPECT_EQ(decoded_by(*codec, bytes_of(encoded), text.size()), bytes_of(text));
    EXPECT_EQ(codec->decode(bytes_of(encoded), 6).text(), text);
  }
}

TEST(Base64Codec, DecodesWhatNumcodecsWrote) {
  // numcodecs.Base64().encode(bytes(i // 7 % 50 for i in range(50)))
  const Bytes encoded =
      bytes_of("AAAAAAAAAAEBAQEBAQECAgICAgICAwMDAwMDAwQEBAQEBAQFBQUFBQUFBgYGBgYGBgc=");
  EXPECT_EQ(decoded_by(*make_bytes_to_bytes("numcodecs.base64"), encoded, 50), regular_bytes(50));
}

TEST(Base64Codec, OtherTextsAreErrors) {
  const auto codec = make_bytes_to_bytes("numcodecs.base64");
  for (const std::string_view text :
       {"Z", "Zg", "Zg=", "Zg===", "Zm9v=", "Zm9v\n", "Zm-_", "====", "Zg==Zg=="}) {
    EXPECT_ERROR(codec->decode(bytes_of(text), 100), "base64: the data is corrupt") << text;
  }
  EXPECT_ERROR(decoded_by(*codec, bytes_of("Zm9v"), 4), "base64: 3 bytes where 4 are expected");
  EXPECT_ERROR(codec->decode(bytes_of("Zm9v"), 2), "base64: 3 bytes, more than the 2");
}

}  // namespace
}  // namespace zarrcore::test::base64_test
