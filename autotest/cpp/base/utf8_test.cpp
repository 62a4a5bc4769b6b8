#include <gtest/gtest.h>

#include "autotest/cpp/support/expect_error.h"
#include "zarrcore/base/text.h"

namespace zarrcore::test::utf8_test {
namespace {

using namespace std::string_view_literals;

TEST(Utf8, TheFirstAndTheLastOfEveryLengthAreIt) {
  for (const std::string_view text :
       {""sv, "\0"sv, "abc"sv, "\x7f"sv, "\xc2\x80"sv, "\xdf\xbf"sv, "\xe0\xa0\x80"sv,
        "\xed\x9f\xbf"sv, "\xee\x80\x80"sv, "\xef\xbf\xbf"sv, "\xf0\x90\x80\x80"sv,
        "\xf4\x8f\xbf\xbf"sv, "a\xc3\xa9z"sv}) {
    EXPECT_TRUE(is_utf8(text));
  }
}

TEST(Utf8, AllElseIsNot) {
  for (const std::string_view text :
       {"\x80"sv, "\xbf"sv, "\xc0\x80"sv, "\xc1\xbf"sv, "\xc2"sv, "\xc2\x41"sv, "\xc2\xc0"sv,
        "\xe0\x9f\xbf"sv, "\xe1\x80"sv, "\xe1\x80\x41"sv, "\xed\xa0\x80"sv, "\xed\xbf\xbf"sv,
        "\xf0\x8f\xbf\xbf"sv, "\xf0\x90\x80"sv, "\xf4\x90\x80\x80"sv, "\xf5\x80\x80\x80"sv,
        "\xff"sv, "a\xe9z"sv}) {
    EXPECT_FALSE(is_utf8(text));
  }
}

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
    const std::u32string code_points = decode_utf8(text);
    EXPECT_EQ(encode_utf8(std::as_bytes(std::span(code_points))), text);
  }
}

TEST(Utf8, WhatIsNoCharacterIsNotWritten) {
  for (const char32_t number : {0xd800u, 0xdfffu, 0x110000u, 0xffffffffu}) {
    EXPECT_ERROR(
        encode_utf8(std::as_bytes(std::span(&number, 1))),
        std::to_string(static_cast<std::uint32_t>(number)) + " is not a code point of a character");
  }
}

}  // namespace
}  // namespace zarrcore::test::utf8_test
