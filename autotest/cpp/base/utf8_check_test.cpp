#include "zarrcore/base/utf8_check.h"

#include <gtest/gtest.h>

namespace zarrcore::test {
namespace {

using namespace std::string_view_literals;

TEST(Utf8Check, TakesTheFirstAndTheLastOfEveryLength) {
  for (const std::string_view text :
       {""sv, "\0"sv, "abc"sv, "\x7f"sv, "\xc2\x80"sv, "\xdf\xbf"sv, "\xe0\xa0\x80"sv,
        "\xed\x9f\xbf"sv, "\xee\x80\x80"sv, "\xef\xbf\xbf"sv, "\xf0\x90\x80\x80"sv,
        "\xf4\x8f\xbf\xbf"sv, "a\xc3\xa9z"sv}) {
    EXPECT_TRUE(is_utf8(text));
  }
}

TEST(Utf8Check, RefusesAllElse) {
  for (const std::string_view text :
       {"\x80"sv, "\xbf"sv, "\xc0\x80"sv, "\xc1\xbf"sv, "\xc2"sv, "\xc2\x41"sv, "\xc2\xc0"sv,
        "\xe0\x9f\xbf"sv, "\xe1\x80"sv, "\xe1\x80\x41"sv, "\xed\xa0\x80"sv, "\xed\xbf\xbf"sv,
        "\xf0\x8f\xbf\xbf"sv, "\xf0\x90\x80"sv, "\xf4\x90\x80\x80"sv, "\xf5\x80\x80\x80"sv,
        "\xff"sv, "a\xe9z"sv}) {
    EXPECT_FALSE(is_utf8(text));
  }
}

}  // namespace
}  // namespace zarrcore::test
