#include <gtest/gtest.h>

#include <limits>

#include "autotest/cpp/support/expect_error.h"
#include "autotest/cpp/support/filters.h"

namespace zarrcore::test::delta_test {
namespace {

constexpr auto kMin = std::numeric_limits<std::int32_t>::min();
constexpr auto kMax = std::numeric_limits<std::int32_t>::max();

void expect_both_ways(const Filter& filter, const Bytes& decoded, const Bytes& encoded) {
  EXPECT_EQ(encoded_by(filter, decoded), encoded);
  EXPECT_EQ(decoded_by(filter, encoded, decoded.size()), decoded);
}

TEST(Delta, IntegersWrapAround) {
  // numcodecs.Delta('<i4').encode(np.array([100000, 7, -5, -5, 2**31 - 1, -2**31], '<i4'))
  expect_both_ways(*make_filter("numcodecs.delta", R"({"dtype": "<i4"})"),
                   little_endian<std::int32_t>({100000, 7, -5, -5, kMax, kMin}),
                   from_hex("a08601006779fefff4ffffff000000000400008001000000"));
}

TEST(Delta, TypesMayDiffer) {
  // numcodecs.Delta('<i2', '|i1').encode(np.array([100, 102, 90, -30, -29], '<i2')); of 300 in the
  // place of -30 it makes 44, and of all that follows something else
  const auto filter = make_filter("numcodecs.delta", R"({"dtype": "<i2", "astype": "|i1"})");
  const Bytes encoded = from_hex("6402f48801");
  expect_both_ways(*filter, little_endian<std::int16_t>({100, 102, 90, -30, -29}), encoded);
  EXPECT_ERROR(filter->encode(little_endian<std::int16_t>({100, 102, 90, 300, 301})),
               "delta: element 3 of the chunk is 300, which cannot be stored: it would become 44");
  EXPECT_EQ(filter->encoded_type(), (DataType{TypeKind::signed_integer, 1}));
}

TEST(Delta, ByteOrdersAreThoseOfTheTypes) {
  // numcodecs.Delta('>i4', '>i2').encode(np.array([1000, 998, 1500], '>i4'))
  expect_both_ways(*make_filter("numcodecs.delta", R"({"dtype": ">i4", "astype": ">i2"})"),
                   from_hex("000003e8000003e6000005dc"), from_hex("03e8fffe01f6"));
}

TEST(Delta, FloatsAndBooleans) {
  // numcodecs.Delta('<f4').encode(np.array([0.5, 0.75, -1, 1e10], '<f4'))
  expect_both_ways(*make_filter("numcodecs.delta", R"({"dtype": "<f4"})"),
                   little_endian<float>({0.5f, 0.75f, -1.f, 1e10f}),
                   from_hex("0000003f0000803e0000e0bff9021550"));
  // numcodecs.Delta('|b1').encode(np.array([0, 0, 1, 1], '?')), whose decode() gives ones after the
  // first, whatever follows
  const auto booleans = make_filter("numcodecs.delta", R"({"dtype": "|b1"})");
  expect_both_ways(*booleans, from_hex("00000101"), from_hex("00000100"));
  EXPECT_EQ(decoded_by(*booleans, from_hex("0101000100"), 5), from_hex("0101010101"));
  EXPECT_ERROR(booleans->encode(from_hex("0100000101")), "delta: element 1 of the chunk is false");
}

TEST(Delta, FloatsThatAreLostAreErrors) {
  const auto filter = make_filter("numcodecs.delta", R"({"dtype": "<f4"})");
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float largest = std::numeric_limits<float>::max();
  EXPECT_NO_THROW(filter->encode(little_endian<float>({0.1f, 0.7f, -3.3f, nan, nan})));
  EXPECT_ERROR(filter->encode(little_endian<float>({1, nan, 3})),
               "element 2 of the chunk is 3.0, which cannot be stored: it would become \"NaN\"");
  EXPECT_ERROR(filter->encode(little_endian<float>({-largest, largest})),
               "element 1 of the chunk is");
  const auto whole = make_filter("numcodecs.delta", R"({"dtype": "<f8", "astype": "<i2"})");
  EXPECT_NO_THROW(whole->encode(little_endian<double>({5, 300, -7})));
  EXPECT_ERROR(whole->encode(little_endian<double>({5, 300.5})),
               "element 1 of the chunk is 300.5,");
}

TEST(Delta, SumsAreTakenInTheTypeThatBothTypesMeetIn) {
  // numcodecs.Delta('<i4', '<f8').decode(np.array([1.5, 2.5, 2.6], '<f8')).tolist() == [1, 4, 6]
  EXPECT_EQ(decoded_by(*make_filter("numcodecs.delta", R"({"dtype": "<i4", "astype": "<f8"})"),
                       little_endian<double>({1.5, 2.5, 2.6}), 12),
            little_endian<std::int32_t>({1, 4, 6}));
}

TEST(Delta, ADurationThatIsNoTimeStaysOne) {
  const auto nat = std::numeric_limits<std::int64_t>::min();
  const auto filter = make_filter("numcodecs.delta", R"({"dtype": "<m8[s]"})");
  EXPECT_EQ(encoded_by(*filter, little_endian<std::int64_t>({3, 5, nat, nat})),
            little_endian<std::int64_t>({3, 2, nat, nat}));
  EXPECT_ERROR(filter->encode(little_endian<std::int64_t>({3, nat, 5, 9})),
               "delta: element 2 of the chunk is 5,");
  EXPECT_EQ(decoded_by(*filter, little_endian<std::int64_t>({3, 4, nat, 1}), 32),
            little_endian<std::int64_t>({3, 7, nat, nat}));
}

TEST(Delta, TheTypeOfTheArrayStandsInForAMissingOne) {
  const auto filter = make_filter("numcodecs.delta", "{}", kInt16);
  expect_both_ways(*filter, little_endian<std::int16_t>({5, 3}),
                   little_endian<std::int16_t>({5, -2}));
}

TEST(Delta, RefusesTypesThatHaveNoDifferences) {
  const auto make = [](const char* configuration) {
    return make_filter("numcodecs.delta", configuration);
  };
  EXPECT_ERROR(make(R"({"dtype": "|O"})"), R"("dtype" is "|O")");
  EXPECT_ERROR(make(R"({"dtype": 4})"), R"("dtype" is 4 where a string is expected)");
  EXPECT_ERROR(make(R"({"dtype": "<i4", "astype": "<i5"})"), R"("astype" is "<i5")");
  EXPECT_ERROR(make(R"({"dtype": "<U4"})"), "cannot compute with");
  EXPECT_ERROR(make(R"({"dtype": "<M8[s]"})"), "cannot compute with");
  EXPECT_ERROR(make(R"({"dtype": "<m8[s]", "astype": "<i8"})"), "not the same kind of time");
  EXPECT_ERROR(make_filter("numcodecs.delta", "{}", {TypeKind::signed_integer, 1, 4}),
               "NumPy has no data type int4");
}

}  // namespace
}  // namespace zarrcore::test::delta_test
