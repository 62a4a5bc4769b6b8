#include <gtest/gtest.h>

#include "autotest/cpp/support/expect_error.h"
#include "autotest/cpp/support/filters.h"

namespace zarrcore::test::shuffle_test {
namespace {

TEST(Shuffle, ShufflesAsNumcodecsDoes) {
  // numcodecs.Shuffle(4).encode(np.array([0x01040302, 0x02050403, 0x03060504], '<i4'))
  const auto of_four = make_filter("numcodecs.shuffle", R"({"elementsize": 4})");
  EXPECT_EQ(encoded_by(*of_four, from_hex("020304010304050204050603")),
            from_hex("020304030405040506010203"));
  // numcodecs.Shuffle(3).encode(np.arange(12, dtype='u1'))
  const auto of_three = make_filter("numcodecs.shuffle", R"({"elementsize": 3})");
  EXPECT_EQ(encoded_by(*of_three, from_hex("000102030405060708090a0b")),
            from_hex("000306090104070a0205080b"));
}

TEST(Shuffle, TheElementsOfTheArrayStandInForAMissingSize) {
  const Bytes bytes = regular_bytes(24);
  EXPECT_EQ(encoded_by(*make_filter("numcodecs.shuffle", "{}", kFloat64), bytes),
            encoded_by(*make_filter("numcodecs.shuffle", R"({"elementsize": 8})"), bytes));
}

TEST(Shuffle, PartsOfAnElementAreAnError) {
  const auto filter = make_filter("numcodecs.shuffle", R"({"elementsize": 4})");
  EXPECT_ERROR(filter->encode(Bytes(7)),
               "shuffle: 7 bytes are not a whole number of elements of 4");
  EXPECT_ERROR(decoded_by(*filter, Bytes(7), 7),
               "shuffle: 7 bytes are not a whole number of elements of 4");
  const auto huge = make_filter("numcodecs.shuffle", R"({"elementsize": 9223372036854775807})");
  EXPECT_ERROR(huge->encode(Bytes(7)), "shuffle: 7 bytes are not a whole number");
}

TEST(Shuffle, RefusesASizeThatIsNone) {
  EXPECT_ERROR(make_filter("numcodecs.shuffle", R"({"elementsize": "4"})"),
               R"("elementsize" is "4")");
}

}  // namespace
}  // namespace zarrcore::test::shuffle_test
