#include <gtest/gtest.h>

#include "autotest/cpp/support/expect_error.h"
#include "zarrcore/base/json.h"

namespace zarrcore::test::json_members_test {
namespace {

std::string members_of(std::string_view text, TrailingComma trailing_comma) {
  std::string found;
  for (JsonMembers members(text, trailing_comma); members.next();) {
    found.append(members.raw_key()).append("=").append(members.value()).append(";");
  }
  return found;
}

TEST(JsonMembers, ATrailingCommaIsRefusedUnlessItIsAccepted) {
  constexpr std::string_view kText = R"({"a": {"b": [1,],}, "c": 2 , })";
  EXPECT_EQ(members_of(kText, TrailingComma::accepted), R"(a={"b": [1,],};c=2;)");
  EXPECT_ERROR(members_of(kText, TrailingComma::refused), "expected the name of a member");
  for (const char* text : {"{,}", R"({"a": 1,,})", R"({"a": 1,)"}) {
    EXPECT_ERROR(members_of(text, TrailingComma::accepted), "expected the name of a member");
  }
}

}  // namespace
}  // namespace zarrcore::test::json_members_test
