#include "zarrcore/base/path.h"

#include <gtest/gtest.h>

#include "autotest/cpp/support/expect_error.h"

namespace zarrcore::test::path_test {
namespace {

using namespace std::string_view_literals;

TEST(Path, SegmentsCannotLeadOutOfAStore) {
  for (const auto name : {""sv, "."sv, ".."sv, "a/b"sv, "a\\b"sv, "a\0b"sv}) {
    EXPECT_FALSE(is_valid_segment(name)) << name;
  }
  for (const auto name : {"a"sv, "..."sv, ".zarray"sv, "a b"sv, "größe"sv, "c:d"sv}) {
    EXPECT_TRUE(is_valid_segment(name)) << name;
  }
}

TEST(Path, KeysAreSequencesOfSegments) {
  EXPECT_NO_THROW(check_key("a/b/c.0"));
  for (const auto key : {""sv, "/a"sv, "a/"sv, "a//b"sv, "../a"sv, "a/../b"sv, "a/."sv}) {
    EXPECT_ERROR(check_key(key), "is not a valid key");
  }
}

TEST(Path, NormalizingDropsSlashesThatSayNothing) {
  EXPECT_EQ(normalize_path(""), "");
  EXPECT_EQ(normalize_path("/"), "");
  EXPECT_EQ(normalize_path("//a///b/"), "a/b");
}

TEST(Path, NormalizingRefusesWhatLeadsOut) {
  for (const auto path : {".."sv, "/a/../b"sv, "a/."sv, "a/b\0"sv, "..\\.."sv}) {
    EXPECT_ERROR(normalize_path(path), "is not a valid node path");
  }
}

TEST(Path, DepthIsBounded) {
  std::string path;
  for (std::size_t i = 0; i < kMaxNodeDepth; ++i) path += "/g";
  EXPECT_EQ(normalize_path(path).size(), 2 * kMaxNodeDepth - 1);
  EXPECT_ERROR(normalize_path(path + "/g"), "deeper than 128 levels");
}

TEST(Path, JoiningAndSplitting) {
  EXPECT_EQ(join_path("", "a"), "a");
  EXPECT_EQ(join_path("a", ""), "a");
  EXPECT_EQ(join_path("a/b", "c"), "a/b/c");
  EXPECT_EQ(parent_path("a/b/c"), "a/b");
  EXPECT_EQ(parent_path("a"), "");
  EXPECT_EQ(last_segment("a/b/c"), "c");
  EXPECT_EQ(last_segment("a"), "a");
}

TEST(Path, KeysBelowAPath) {
  EXPECT_EQ(key_below("", "a/b"), "a/b");
  EXPECT_EQ(key_below("a", "a/b/c"), "b/c");
  EXPECT_EQ(key_below("a", "ab/c"), std::nullopt);
  EXPECT_EQ(key_below("a", "a"), std::nullopt);
  EXPECT_EQ(key_below("a/b", "a/c"), std::nullopt);
}

}  // namespace
}  // namespace zarrcore::test::path_test
