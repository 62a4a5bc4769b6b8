#include <gtest/gtest.h>

#include "autotest/cpp/support/expect_error.h"
#include "autotest/cpp/support/filters.h"

namespace zarrcore::test::quantize_test {
namespace {

// np.linspace(0, 1, 10)
const Bytes kNinths = little_endian<double>(
    {0.0, 0.1111111111111111, 0.2222222222222222, 0.3333333333333333, 0.4444444444444444,
     0.5555555555555556, 0.6666666666666666, 0.7777777777777777, 0.8888888888888888, 1.0});

TEST(Quantize, KeepsTheBitsThatTheDigitsNeed) {
  // numcodecs.Quantize(2, '<f8').encode(np.linspace(0, 1, 10))
  const auto filter = make_filter("numcodecs.quantize", R"({"digits": 2, "dtype": "<f8"})");
  const Bytes encoded = from_hex(
      "0000000000000000000000000000bc3f000000000000cc3f000000000080d53f000000000080dc3f"
      "0000000000c0e13f000000000040e53f000000000000e93f000000000080ec3f000000000000f03f");
  EXPECT_EQ(encoded_by(*filter, kNinths), encoded);
  EXPECT_EQ(decoded_by(*filter, encoded, 80), encoded);
}

TEST(Quantize, StoresAsAnotherType) {
  // numcodecs.Quantize(1, '<f8', '<f4').encode(np.linspace(0, 1, 10))
  const auto filter =
      make_filter("numcodecs.quantize", R"({"digits": 1, "dtype": "<f8", "astype": "<f4"})");
  const Bytes encoded =
      from_hex("000000000000003e0000803e0000a03e0000e03e0000103f0000303f0000403f0000603f0000803f");
  EXPECT_EQ(encoded_by(*filter, kNinths), encoded);
  EXPECT_EQ(
      decoded_by(*filter, encoded, 80),
      little_endian<double>({0, 0.125, 0.25, 0.3125, 0.4375, 0.5625, 0.6875, 0.75, 0.875, 1}));
}

TEST(Quantize, DigitsMayStandBeforeThePoint) {
  // numcodecs.Quantize(-2, '<f4').encode(np.array([12345.678, -149, 150], '<f4'))
  const auto filter = make_filter("numcodecs.quantize", R"({"digits": -2, "dtype": "<f4"})");
  EXPECT_EQ(encoded_by(*filter, little_endian<float>({12345.678f, -149, 150})),
            from_hex("00004146000000c300000043"));
}

TEST(Quantize, RefusesConfigurationsThatAreNotRight) {
  const auto make = [](const char* configuration) {
    return make_filter("numcodecs.quantize", configuration, kFloat64);
  };
  EXPECT_ERROR(make("{}"), "\"digits\" is missing");
  EXPECT_ERROR(make(R"({"digits": "2"})"), R"("digits" is "2" where a number is expected)");
  EXPECT_ERROR(make(R"({"digits": 1000})"), "\"digits\" is 1000, out of range");
  EXPECT_ERROR(make(R"({"digits": -1000})"), "\"digits\" is -1000, out of range");
  EXPECT_ERROR(make(R"({"digits": 1, "dtype": "<i4"})"), "int32 is not a floating point type");
  EXPECT_ERROR(make(R"({"digits": 1, "dtype": "<f4", "astype": "<i4"})"),
               "int32 is not a floating point type");
}

}  // namespace
}  // namespace zarrcore::test::quantize_test
