#include <gtest/gtest.h>

#include <limits>

#include "autotest/cpp/support/expect_error.h"
#include "autotest/cpp/support/filters.h"

namespace zarrcore::test::fixedscaleoffset_test {
namespace {

std::unique_ptr<const Filter> make(std::string_view configuration) {
  return make_filter("numcodecs.fixedscaleoffset", configuration, kFloat64);
}

TEST(FixedScaleOffset, EncodesToTheNearestIntegerHalvesToTheEvenOne) {
  // numcodecs.FixedScaleOffset(1000, 100, '<f8', '<i4').encode(
  //     np.array([1000, 1000.125, 999.995, 1000.005, 1234.5678, -1e5], '<f8'))
  const auto filter = make(R"({"offset": 1000, "scale": 100, "dtype": "<f8", "astype": "<i4"})");
  const Bytes encoded = from_hex("000000000c0000000000000000000000a15b0000e0e265ff");
  EXPECT_EQ(encoded_by(*filter,
                       little_endian<double>({1000, 1000.125, 999.995, 1000.005, 1234.5678, -1e5})),
            encoded);
  EXPECT_EQ(decoded_by(*filter, encoded, 48),
            little_endian<double>({1000, 1000.12, 1000, 1000, 1234.57, -1e5}));
}

TEST(FixedScaleOffset, DecodesByTruncatingToIntegers) {
  // numcodecs.FixedScaleOffset(0.5, 4, '<i4', '<i2').decode(np.array([-9, -1, 3, 7, 9], '<i2'))
  const auto filter = make(R"({"offset": 0.5, "scale": 4, "dtype": "<i4", "astype": "<i2"})");
  EXPECT_EQ(decoded_by(*filter, little_endian<std::int16_t>({-9, -1, 3, 7, 9}), 20),
            little_endian<std::int32_t>({-1, 0, 1, 2, 2}));
}

TEST(FixedScaleOffset, ComputesInTheTypesOfNumpy) {
  // numcodecs.FixedScaleOffset(0.1, 3, '<f4', '<i2').decode(np.array([-4, 0, 1, 100], '<i2')):
  // in float64, as integers are divided
  const auto to_float = make(R"({"offset": 0.1, "scale": 3, "dtype": "<f4", "astype": "<i2"})");
  EXPECT_EQ(decoded_by(*to_float, little_endian<std::int16_t>({-4, 0, 1, 100}), 16),
            from_hex("dedd9dbfcdcccc3ddedddd3ebcbb0542"));
  // numcodecs.FixedScaleOffset(3, 2, '<i2', '<i2').encode(np.array([0, -16000, 16386], '<i2'))
  const auto of_integers = make(R"({"offset": 3, "scale": 2, "dtype": "<i2", "astype": "<i2"})");
  EXPECT_EQ(encoded_by(*of_integers, little_endian<std::int16_t>({0, -16000, 16386})),
            from_hex("fafffa82fe7f"));
}

TEST(FixedScaleOffset, ByteOrdersAreThoseOfTheTypes) {
  // numcodecs.FixedScaleOffset(-1.5, 2, '>f4', '>i2').encode(
  //     np.array([0, -32, 0.25, 0.75], '>f4'))
  const auto filter = make(R"({"offset": -1.5, "scale": 2, "dtype": ">f4", "astype": ">i2"})");
  const Bytes encoded = from_hex("0003ffc300040004");
  EXPECT_EQ(encoded_by(*filter, from_hex("00000000c20000003e8000003f400000")), encoded);
  EXPECT_EQ(decoded_by(*filter, encoded, 16), from_hex("00000000c20000003f0000003f000000"));
}

TEST(FixedScaleOffset, WhatCannotBeStoredIsAnError) {
  // numcodecs.FixedScaleOffset(10, 10, '<f8', '|i1').decode(...encode(np.array([11.5, 100]))) gives
  // 11.5 and -2.4.
  const auto small = make(R"({"offset": 10, "scale": 10, "dtype": "<f8", "astype": "|i1"})");
  EXPECT_EQ(encoded_by(*small, little_endian<double>({11.5, -2.8, 22.7})), from_hex("0f807f"));
  EXPECT_ERROR(
      small->encode(little_endian<double>({11.5, 100})),
      "fixedscaleoffset: element 1 of the chunk is 100.0, which cannot be stored: it would "
      "become -2.4");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_ERROR(small->encode(little_endian<double>({1, 2, nan})),
               "element 2 of the chunk is \"NaN\"");
  EXPECT_ERROR(small->encode(little_endian<double>({-infinity})), "element 0 of the chunk is");
  // In int16, which wraps around.
  const auto of_integers = make(R"({"offset": 3, "scale": 2, "dtype": "<i2", "astype": "<i2"})");
  EXPECT_ERROR(of_integers->encode(little_endian<std::int16_t>({0, 20000})), "element 1",
               "is 20000,");
  EXPECT_ERROR(of_integers->encode(little_endian<std::int16_t>({-32768})), "element 0",
               "is -32768,");
  // Many elements are many blocks.
  Bytes many = little_endian<double>({});
  for (int i = 0; i < 1000; ++i) {
    const Bytes one = little_endian<double>({i == 777 ? 1e300 : 10});
    many.insert(many.end(), one.begin(), one.end());
  }
  EXPECT_ERROR(small->encode(many), "element 777");
  // Floats hold what integers do not.
  const auto to_float = make(R"({"offset": 0, "scale": 1, "dtype": "<f8", "astype": "<f8"})");
  EXPECT_NO_THROW(to_float->encode(little_endian<double>({nan, infinity, 1e300})));
}

TEST(FixedScaleOffset, AScaleOfZeroHarmsNobody) {
  const auto filter = make(R"({"offset": 0, "scale": 0, "dtype": "<i4", "astype": "<i2"})");
  EXPECT_EQ(decoded_by(*filter, little_endian<std::int16_t>({0, 1}), 8),
            little_endian<std::int32_t>({std::numeric_limits<std::int32_t>::min(),
                                         std::numeric_limits<std::int32_t>::min()}));
  EXPECT_ERROR(filter->encode(little_endian<std::int32_t>({7})), "element 0 of the chunk is 7,");
}

TEST(FixedScaleOffset, RefusesConfigurationsThatAreNotRight) {
  EXPECT_ERROR(make(R"({"scale": 1})"), "\"offset\" is missing");
  EXPECT_ERROR(make(R"({"offset": 1})"), "\"scale\" is missing");
  EXPECT_ERROR(make(R"({"offset": "1", "scale": 1})"),
               R"("offset" is "1" where a number is expected)");
  EXPECT_ERROR(make(R"({"offset": 1, "scale": 1, "dtype": "<c8"})"), "are not real numbers");
  EXPECT_ERROR(make(R"({"offset": 1, "scale": 1, "dtype": "|S4"})"), "cannot compute with");
  EXPECT_ERROR(make(R"({"offset": 1, "scale": 1, "dtype": "<f8", "astype": "what"})"),
               R"("astype" is "what")");
}

}  // namespace
}  // namespace zarrcore::test::fixedscaleoffset_test
