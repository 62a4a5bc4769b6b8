#include <gtest/gtest.h>

#include "autotest/cpp/support/expect_error.h"
#include "autotest/cpp/support/filters.h"

namespace zarrcore::test::numcodecs_packbits_test {
namespace {

const DataType kBool{TypeKind::boolean, 1};

TEST(NumcodecsPackbits, PacksAsNumcodecsDoes) {
  const auto filter = make_filter("numcodecs.packbits", "{}", kBool);
  const std::vector<std::pair<Bytes, const char*>> examples{
      {{}, "00"},                                            // encode(np.array([], '?'))
      {bytes_of({1, 0, 0, 1}), "0490"},                      // [1, 0, 0, 1]
      {bytes_of({1, 0, 0, 1, 1, 1, 0, 1, 1, 0}), "069d80"},  // [1, 0, 0, 1, 1, 1, 0, 1, 1, 0]
  };
  for (const auto& [decoded, encoded] : examples) {
    EXPECT_EQ(encoded_by(*filter, decoded), from_hex(encoded));
    EXPECT_EQ(decoded_by(*filter, from_hex(encoded), decoded.size()), decoded);
  }
}

TEST(NumcodecsPackbits, AllButZeroIsTrueAndPaddingIsNotLookedAt) {
  const auto filter = make_filter("numcodecs.packbits", "{}", kBool);
  EXPECT_EQ(encoded_by(*filter, bytes_of({2, 0, 255})), from_hex("05a0"));
  EXPECT_EQ(decoded_by(*filter, from_hex("05bf"), 3), bytes_of({1, 0, 1}));
}

TEST(NumcodecsPackbits, AChunkOfAnyShapeBecomesOneRow) {
  const auto filter = make_filter("numcodecs.packbits", "{}", kBool);
  EXPECT_EQ(filter->encoded_shape({3, 4, 5}), (Shape{9}));
  EXPECT_EQ(filter->encoded_shape({}), (Shape{2}));
  EXPECT_ERROR(filter->encoded_shape({std::uint64_t{1} << 40, std::uint64_t{1} << 40}),
               "larger than any memory");
}

TEST(NumcodecsPackbits, PaddingThatCannotBeIsAnError) {
  const auto filter = make_filter("numcodecs.packbits", "{}", kBool);
  EXPECT_ERROR(filter->decode({}, 8), "packbits: there are no bytes");
  EXPECT_ERROR(filter->decode(from_hex("08ff"), 8), "packbits: 8 bits of padding in 1 bytes");
  EXPECT_ERROR(filter->decode(from_hex("ffff"), 8), "packbits: 255 bits of padding in 1 bytes");
  EXPECT_ERROR(filter->decode(from_hex("01"), 8), "packbits: 1 bits of padding in 0 bytes");
}

}  // namespace
}  // namespace zarrcore::test::numcodecs_packbits_test
