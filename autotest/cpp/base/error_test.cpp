#include "zarrcore/base/error.h"

#include <gtest/gtest.h>

#include "autotest/cpp/support/expect_error.h"

namespace zarrcore::test::error_test {
namespace {

TEST(Error, EachLevelPutsItsContextInFront) {
  const auto read_chunk = [] { throw Error("frame is corrupt"); };
  const auto read_array = [&] { with_context([] { return "chunk c/0"; }, read_chunk); };
  try {
    with_context([] { return "array /a"; }, read_array);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "array /a: chunk c/0: frame is corrupt");
  }
}

TEST(Error, RunningOutOfMemoryBecomesAnErrorWithTheContext) {
  EXPECT_ERROR(with_context([] { return "array /a"; }, [] { throw std::bad_alloc(); }),
               "array /a: not enough memory");
}

TEST(Error, ANulOutOfAFileDoesNotEndTheMessage) {
  using namespace std::string_literals;
  Error error("no codec \"a\0b\""s);
  error.add_context("chunk c\0"s);
  EXPECT_STREQ(error.what(), "chunk c?: no codec \"a?b\"");
}

TEST(Error, WithContextReturnsWhatTheBodyDoes) {
  EXPECT_EQ(with_context("unused", [] { return 42; }), 42);
}

TEST(Error, OtherExceptionsPassAsTheyAre) {
  EXPECT_THROW(with_context("unused", [] { throw std::string("stop"); }), std::string);
}

}  // namespace
}  // namespace zarrcore::test::error_test
