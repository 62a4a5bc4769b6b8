#include <gtest/gtest.h>

#include "autotest/cpp/support/expect_error.h"
#include "zarrcore/store/store.h"

namespace zarrcore::test::byte_range_test {
namespace {

TEST(ByteRange, ResolvesFromBothEnds) {
  EXPECT_EQ(resolve_range(ByteRange::at(3, 4), 10), 3);
  EXPECT_EQ(resolve_range(ByteRange::at(10, 0), 10), 10);
  EXPECT_EQ(resolve_range(ByteRange::suffix(4), 10), 6);
  EXPECT_EQ(resolve_range(ByteRange::suffix(10), 10), 0);
}

TEST(ByteRange, RefusesWhatIsOutside) {
  EXPECT_ERROR(resolve_range(ByteRange::at(7, 4), 10), "4 bytes at offset 7 are outside");
  EXPECT_ERROR(resolve_range(ByteRange::at(11, 0), 10), "outside a value of 10 bytes");
  EXPECT_ERROR(resolve_range(ByteRange::suffix(11), 10), "the last 11 bytes");
}

TEST(ByteRange, HugeNumbersDoNotWrapAround) {
  EXPECT_ERROR(resolve_range(ByteRange::at(UINT64_MAX, 2), 10), "outside");
  EXPECT_ERROR(resolve_range(ByteRange::at(2, UINT64_MAX), 10), "outside");
  EXPECT_ERROR(resolve_range(ByteRange::suffix(UINT64_MAX), 10), "the last");
}

TEST(ByteRange, ValuesAreBoundedBeforeTheyAreRead) {
  EXPECT_NO_THROW(check_value_size(10, 10));
  EXPECT_ERROR(check_value_size(11, 10), "11 bytes where at most 10");
}

}  // namespace
}  // namespace zarrcore::test::byte_range_test
