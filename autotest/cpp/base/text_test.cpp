#include "zarrcore/base/text.h"

#include <gtest/gtest.h>

namespace zarrcore::test::text_test {
namespace {

TEST(Text, LowerCaseChangesAsciiLettersOnly) {
  EXPECT_EQ(lower_case("Grid MAPPING_9 É"), "grid mapping_9 É");
}

TEST(Text, TrailingCharactersAreDropped) {
  EXPECT_EQ(without_trailing("1.500", '0'), "1.5");
  EXPECT_EQ(without_trailing("000", '0'), "");
  EXPECT_EQ(without_trailing("", '0'), "");
}

TEST(Text, ShapesAreWrittenWithASeparator) {
  EXPECT_EQ(shape_text(std::vector<std::uint64_t>{3, 1080, 1920}, "x"), "3x1080x1920");
  EXPECT_EQ(shape_text({}, ","), "");
}

TEST(Text, ANumberIsTheWholeText) {
  EXPECT_EQ(parse_number<std::uint64_t>("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(parse_number<std::int64_t>("-12"), -12);
  EXPECT_EQ(parse_number<double>("1.5e3"), 1500);
  for (const char* text : {"", "12 ", " 12", "12a", "-1", "+1", "18446744073709551616"}) {
    EXPECT_FALSE(parse_number<std::uint64_t>(text)) << text;
  }
}

TEST(Text, ANumberIsTakenFromTheStart) {
  std::string_view text = "12/34";
  EXPECT_EQ(take_number<int>(text), 12);
  EXPECT_EQ(text, "/34");
  EXPECT_FALSE(take_number<int>(text));
  EXPECT_EQ(text, "/34");
}

TEST(Text, DigitsHaveABase) {
  EXPECT_EQ(parse_digits("7fc0", 16), 0x7fc0u);
  EXPECT_EQ(parse_digits("1100", 2), 12u);
  EXPECT_FALSE(parse_digits("12", 2));
}

}  // namespace
}  // namespace zarrcore::test::text_test
