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

}  // namespace
}  // namespace zarrcore::test
