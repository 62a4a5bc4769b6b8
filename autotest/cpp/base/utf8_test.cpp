#include "zarrcore/base/utf8.h"

#include <gtest/gtest.h>

namespace zarrcore::test {
namespace {

TEST(Utf8, CodePointsOfEveryLength) {
  EXPECT_EQ(decode_utf8(""), U"");
  EXPECT_EQ(decode_utf8("aé€😀"), U"aé€😀");
  EXPECT_EQ(decode_utf8(std::string_view("\0\x7f\xc2\x80\xef\xbf\xbf\xf4\x8f\xbf\xbf", 11)),
            std::u32string(U"\0\x7f\x80\uffff\U0010ffff", 5));
}

TEST(Utf8, CodePointsOfEveryLengthAreWritten) {
  for (const std::string_view text :
       {std::string_view("\0\x7f", 2), std::string_view("\xc2\x80\xdf\xbf"),
        std::string_view("\xe0\xa0\x80\xef\xbf\xbf"),
        std::string_view("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf")}) {
    std::string written;
    for (const char32_t code_point : decode_utf8(text)) append_utf8(written, code_point);
    EXPECT_EQ(written, text);
  }
}

}  // namespace
}  // namespace zarrcore::test
