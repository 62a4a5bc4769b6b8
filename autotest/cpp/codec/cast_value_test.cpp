#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "autotest/cpp/support/array_codecs.h"
#include "autotest/cpp/support/expect_error.h"
#include "zarrcore/dtype/small_float.h"

namespace zarrcore::test::cast_value_test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

auto make_cast_value(const std::string& members, const ChunkSpec& spec) {
  return make_array_to_array("cast_value", "{" + members + "}", spec);
}

std::string to(std::string_view type, std::string_view rest = "") {
  return R"("data_type": ")" + std::string(type) + "\"" + std::string(rest);
}
std::string rounding(std::string_view mode) {
  return R"(, "rounding": ")" + std::string(mode) + "\"";
}
constexpr const char* kClamp = R"(, "out_of_range": "clamp")";
constexpr const char* kWrap = R"(, "out_of_range": "wrap")";

// `value`, an element of `from`, as a `To`.
template <typename To, typename From>
To cast(From value, const DataType& from, const std::string& members) {
  const auto codec = make_cast_value(members, spec_of({1}, from));
  return values_of<To>(encoded_by(*codec, elements<From>({value})))[0];
}

TEST(CastValue, IntegersKeepTheirValueOrFail) {
  EXPECT_EQ(cast<std::uint8_t>(std::int16_t{255}, kInt16, to("uint8")), 255);
  EXPECT_ERROR(cast<std::uint8_t>(std::int16_t{256}, kInt16, to("uint8")),
               "cast_value: 256 does not fit the data type uint8");
  EXPECT_ERROR(cast<std::uint8_t>(std::int16_t{-1}, kInt16, to("uint8")), "-1 does not fit");
  EXPECT_EQ(cast<std::int64_t>(std::uint64_t{INT64_MAX}, kUint64, to("int64")), INT64_MAX);
  EXPECT_ERROR(cast<std::int64_t>(std::uint64_t{INT64_MAX} + 1, kUint64, to("int64")),
               "9223372036854775808 does not fit the data type int64");
  EXPECT_ERROR(cast<std::uint64_t>(std::int64_t{-1}, kInt64, to("uint64")), "does not fit");
  EXPECT_EQ(cast<std::int8_t>(std::int16_t{-8}, kInt16, to("int4")), -8);
  EXPECT_ERROR(cast<std::int8_t>(std::int16_t{8}, kInt16, to("int4")),
               "does not fit the data type int4");
}

TEST(CastValue, ClampGoesToTheNearestEnd) {
  EXPECT_EQ(cast<std::uint8_t>(std::int16_t{300}, kInt16, to("uint8", kClamp)), 255);
  EXPECT_EQ(cast<std::uint8_t>(std::int16_t{-300}, kInt16, to("uint8", kClamp)), 0);
  EXPECT_EQ(cast<std::int64_t>(UINT64_MAX, kUint64, to("int64", kClamp)), INT64_MAX);
  EXPECT_EQ(cast<std::int64_t>(1e30, kFloat64, to("int64", kClamp)), INT64_MAX);
  EXPECT_EQ(cast<std::int64_t>(-1e30, kFloat64, to("int64", kClamp)), INT64_MIN);
  EXPECT_EQ(cast<std::uint64_t>(0x1p64, kFloat64, to("uint64", kClamp)), UINT64_MAX);
  EXPECT_EQ(cast<std::int8_t>(std::int16_t{-9}, kInt16, to("int4", kClamp)), -8);
  EXPECT_EQ(cast<std::uint8_t>(9.0, kFloat64, to("uint2", kClamp)), 3);
}

TEST(CastValue, WrapCountsModuloThePowerOfTwo) {
  EXPECT_EQ(cast<std::uint8_t>(std::int16_t{-1}, kInt16, to("uint8", kWrap)), 255);
  EXPECT_EQ(cast<std::int8_t>(std::int16_t{200}, kInt16, to("int8", kWrap)), -56);
  EXPECT_EQ(cast<std::int8_t>(std::int16_t{8}, kInt16, to("int4", kWrap)), -8);
  EXPECT_EQ(cast<std::int64_t>(UINT64_MAX, kUint64, to("int64", kWrap)), -1);
  EXPECT_EQ(cast<std::uint8_t>(-1.5, kFloat64, to("uint8", kWrap)), 254);
  EXPECT_EQ(cast<std::int32_t>(0x1p40 + 3, kFloat64, to("int32", kWrap)), 3);
  EXPECT_EQ(cast<std::int64_t>(0x1p63, kFloat64, to("int64", kWrap)), INT64_MIN);
  EXPECT_EQ(cast<std::int64_t>(1e300, kFloat64, to("int64", kWrap)), 0);
}

TEST(CastValue, EveryRoundingToIntegers) {
  struct Case {
    const char* mode;
    std::vector<std::int32_t> expected;  // of -2.5, -1.5, -0.5, -0.2, 0.2, 0.5, 1.5, 2.5, 2.7
  };
  const std::vector<double> values{-2.5, -1.5, -0.5, -0.2, 0.2, 0.5, 1.5, 2.5, 2.7};
  for (const Case& c : {Case{"nearest-even", {-2, -2, 0, 0, 0, 0, 2, 2, 3}},
                        Case{"towards-zero", {-2, -1, 0, 0, 0, 0, 1, 2, 2}},
                        Case{"towards-positive", {-2, -1, 0, 0, 1, 1, 2, 3, 3}},
                        Case{"towards-negative", {-3, -2, -1, -1, 0, 0, 1, 2, 2}},
                        Case{"nearest-away", {-3, -2, -1, 0, 0, 1, 2, 3, 3}}}) {
    const auto codec =
        make_cast_value(to("int32", rounding(c.mode)), spec_of({values.size()}, kFloat64));
    EXPECT_EQ(values_of<std::int32_t>(encoded_by(*codec, elements(values))), c.expected) << c.mode;
  }
}

TEST(CastValue, RoundingPrecedesTheRangeCheck) {
  EXPECT_EQ(cast<std::uint8_t>(255.4, kFloat64, to("uint8")), 255);
  EXPECT_ERROR(cast<std::uint8_t>(255.5, kFloat64, to("uint8")), "255.5 does not fit");
  EXPECT_EQ(cast<std::uint8_t>(255.9, kFloat64, to("uint8", rounding("towards-zero"))), 255);
  EXPECT_EQ(cast<std::uint8_t>(-0.5, kFloat64, to("uint8")), 0);
  EXPECT_ERROR(cast<std::uint8_t>(-0.6, kFloat64, to("uint8")), "-0.6 does not fit");
  EXPECT_ERROR(cast<std::int64_t>(0x1p63, kFloat64, to("int64")), "does not fit");
  EXPECT_EQ(cast<std::int64_t>(-0x1p63, kFloat64, to("int64")), INT64_MIN);
  EXPECT_ERROR(cast<std::uint64_t>(0x1p64, kFloat64, to("uint64")), "does not fit");
}

TEST(CastValue, WhatIsNotFiniteIsNoInteger) {
  for (const std::string& members : {to("int16"), to("int16", kClamp), to("int16", kWrap)}) {
    EXPECT_ERROR(cast<std::int16_t>(kNan, kFloat64, members),
                 "NaN does not fit the data type int16");
    EXPECT_ERROR(cast<std::int16_t>(kInfinity, kFloat64, members), "Infinity does not fit");
    EXPECT_ERROR(cast<std::int16_t>(-kInfinity, kFloat64, members), "-Infinity does not fit");
  }
}

TEST(CastValue, EveryRoundingOfIntegersToFloats) {
  // Between 2^53 and 2^54 every second integer is a double.
  constexpr std::int64_t kOdd = (std::int64_t{1} << 53) + 3;  // the middle of two
  const auto as_double = [](std::int64_t value, std::string_view mode) {
    return static_cast<std::int64_t>(cast<double>(value, kInt64, to("float64", rounding(mode))));
  };
  EXPECT_EQ(as_double(kOdd, "nearest-even"), kOdd + 1);
  EXPECT_EQ(as_double(kOdd - 2, "nearest-even"), kOdd - 3);
  EXPECT_EQ(as_double(kOdd - 2, "nearest-away"), kOdd - 1);
  EXPECT_EQ(as_double(kOdd, "towards-zero"), kOdd - 1);
  EXPECT_EQ(as_double(-kOdd, "towards-zero"), -kOdd + 1);
  EXPECT_EQ(as_double(kOdd, "towards-positive"), kOdd + 1);
  EXPECT_EQ(as_double(-kOdd, "towards-positive"), -kOdd + 1);
  EXPECT_EQ(as_double(kOdd, "towards-negative"), kOdd - 1);
  EXPECT_EQ(as_double(-kOdd, "towards-negative"), -kOdd - 1);
  EXPECT_EQ(cast<double>(UINT64_MAX, kUint64, to("float64", rounding("towards-zero"))),
            0x1p64 - 2048);
  EXPECT_EQ(cast<double>(INT64_MIN, kInt64, to("float64", rounding("towards-zero"))), -0x1p63);
}

TEST(CastValue, OneRoundingNotTwo) {
  // A little more than the middle between two bfloat16, so little that a double does not tell.
  constexpr std::int64_t kValue = (std::int64_t{1} << 62) + (std::int64_t{1} << 54) + 1;
  const auto code = cast<std::uint16_t>(kValue, kInt64, to("bfloat16"));
  EXPECT_EQ(decode_small_float(FloatFormat::bfloat16, code), 0x1p62F + 0x1p55F);
  EXPECT_EQ(
      cast<float>((std::int64_t{1} << 62) + (std::int64_t{1} << 38) + 1, kInt64, to("float32")),
      0x1p62F + 0x1p39F);
}

TEST(CastValue, EveryRoundingToNarrowerFloats) {
  const auto as_float16 = [](double value, std::string_view mode) {
    return float16_to_float(cast<std::uint16_t>(value, kFloat64, to("float16", rounding(mode))));
  };
  // Between 2048 and 4096 every second integer is a float16.
  EXPECT_EQ(as_float16(2049, "nearest-even"), 2048);
  EXPECT_EQ(as_float16(2051, "nearest-even"), 2052);
  EXPECT_EQ(as_float16(2049.001, "nearest-even"), 2050);
  EXPECT_EQ(as_float16(2049, "nearest-away"), 2050);
  EXPECT_EQ(as_float16(-2049, "nearest-away"), -2050);
  EXPECT_EQ(as_float16(2049.9, "towards-zero"), 2048);
  EXPECT_EQ(as_float16(2048.1, "towards-positive"), 2050);
  EXPECT_EQ(as_float16(-2049.9, "towards-positive"), -2048);
  EXPECT_EQ(as_float16(-2048.1, "towards-negative"), -2050);
  // The smallest subnormal is 2^-24.
  EXPECT_EQ(as_float16(0x1p-25, "nearest-even"), 0);
  EXPECT_EQ(as_float16(0x1p-25, "nearest-away"), 0x1p-24F);
  EXPECT_EQ(as_float16(0x1p-1074, "towards-positive"), 0x1p-24F);
  EXPECT_EQ(as_float16(-0x1p-1074, "towards-negative"), -0x1p-24F);
  EXPECT_EQ(as_float16(0x1.8p-24, "nearest-even"), 0x1p-23F);
  EXPECT_TRUE(std::signbit(as_float16(-0x1p-1074, "towards-positive")));
  for (const char* mode :
       {"nearest-even", "towards-zero", "towards-positive", "towards-negative", "nearest-away"}) {
    EXPECT_EQ(as_float16(0x1.5p-20, mode), 0x1.5p-20F) << mode;
    EXPECT_EQ(as_float16(kInfinity, mode), kInfinity) << mode;
    EXPECT_TRUE(std::isnan(as_float16(kNan, mode))) << mode;
    EXPECT_TRUE(std::signbit(as_float16(-0.0, mode))) << mode;
  }
}

// What the general way gives is what the processor's own conversion gives.
TEST(CastValue, NearestEvenIsThatOfTheProcessor) {
  Random random(23);
  constexpr std::size_t kCount = 20000;
  std::vector<double> values;
  for (std::size_t i = 0; i < kCount; ++i) {
    const auto exponent = static_cast<int>(random_number(random, 0, 50)) - 30;
    values.push_back(std::ldexp(static_cast<double>(random() >> 40), exponent - 24));
  }
  const auto codec = make_cast_value(to("float16", kClamp), spec_of({kCount}, kFloat64));
  const auto halves = values_of<std::uint16_t>(encoded_by(*codec, elements(values)));
  for (std::size_t i = 0; i < kCount; ++i) EXPECT_EQ(halves[i], double_to_float16(values[i]));
  const DataType float8{TypeKind::floating, 1, 0, FloatFormat::float8_e5m2};
  const auto small = make_cast_value(to("float8_e5m2", kClamp), spec_of({kCount}, kFloat64));
  const Bytes bytes = encoded_by(*small, elements(values));
  for (std::size_t i = 0; i < kCount; ++i) {
    EXPECT_EQ(std::to_integer<unsigned>(bytes[i]),
              encode_small_float(float8.float_format, values[i]));
  }
}

TEST(CastValue, FloatsPastTheLargestAreErrorsOrInfinities) {
  EXPECT_EQ(float16_to_float(cast<std::uint16_t>(65519.0, kFloat64, to("float16"))), 65504);
  EXPECT_ERROR(cast<std::uint16_t>(65520.0, kFloat64, to("float16")),
               "does not fit the data type float16");
  EXPECT_EQ(float16_to_float(cast<std::uint16_t>(65520.0, kFloat64, to("float16", kClamp))),
            kInfinity);
  EXPECT_EQ(
      float16_to_float(cast<std::uint16_t>(std::int32_t{-70000}, kInt32, to("float16", kClamp))),
      -kInfinity);
  EXPECT_ERROR(cast<float>(1e39, kFloat64, to("float32")),
               "1e+39 does not fit the data type float32");
  EXPECT_EQ(cast<float>(-1e39, kFloat64, to("float32", kClamp)), -kInfinity);
  EXPECT_EQ(
      cast<float>(1e39, kFloat64, to("float32", std::string(kClamp) + rounding("towards-zero"))),
      kInfinity);
  EXPECT_EQ(cast<float>(kInfinity, kFloat64, to("float32")), kInfinity);
}

TEST(CastValue, FormatsWithoutInfinitiesOrNanHaveTheirLargestNumber) {
  const auto as = [](double value, std::string_view type, std::string_view rest = "") {
    const auto code = cast<std::uint8_t>(value, kFloat64, to(type, rest));
    return decode_small_float(parse_type_name(type)->float_format, code);
  };
  EXPECT_EQ(as(448, "float8_e4m3fn"), 448);
  EXPECT_ERROR(as(500, "float8_e4m3fn"), "does not fit the data type float8_e4m3fn");
  EXPECT_EQ(as(500, "float8_e4m3fn", kClamp), 448);
  EXPECT_ERROR(as(kInfinity, "float8_e4m3fn"), "Infinity does not fit");
  EXPECT_EQ(as(-kInfinity, "float8_e4m3fn", kClamp), -448);
  EXPECT_TRUE(std::isnan(as(kNan, "float8_e4m3fn")));
  EXPECT_ERROR(as(kNan, "float4_e2m1fn", kClamp), "NaN does not fit the data type float4_e2m1fn");
  EXPECT_EQ(as(2.5, "float4_e2m1fn"), 2);
  EXPECT_EQ(as(2.5, "float4_e2m1fn", rounding("nearest-away")), 3);
  EXPECT_EQ(as(-7, "float4_e2m1fn", kClamp), -6);
}

TEST(CastValue, ZeroIsZeroInEveryFormat) {
  for (const char* type :
       {"bfloat16", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn",
        "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float6_e2m3fn", "float6_e3m2fn",
        "float4_e2m1fn", "float16", "float32"}) {
    const auto codec = make_cast_value(to(type), spec_of({1}, kFloat64));
    const Bytes zero = encoded_by(*codec, elements<double>({0}));
    EXPECT_EQ(zero, Bytes(zero.size())) << type;
    EXPECT_EQ(decoded_by(*codec, zero, 8), elements<double>({0})) << type;
  }
}

TEST(CastValue, Float8E8m0HasPowersOfTwoAlone) {
  const auto as = [](double value, const std::string& rest = "") {
    // Zero, the fill value of spec_of, does not fit.
    const auto codec =
        make_cast_value(to("float8_e8m0fnu", rest), {{1}, kFloat64, elements<double>({1})});
    const Bytes code = encoded_by(*codec, elements<double>({value}));
    return decode_small_float(FloatFormat::float8_e8m0fnu, std::to_integer<std::uint16_t>(code[0]));
  };
  EXPECT_EQ(as(4), 4);
  EXPECT_EQ(as(5), 4);
  EXPECT_EQ(as(5, rounding("towards-positive")), 8);
  EXPECT_EQ(as(0x1p127), 0x1p127F);
  for (const double middle : {1.5, 3.0, 6.0}) {
    EXPECT_EQ(as(middle),
              decode_small_float(FloatFormat::float8_e8m0fnu,
                                 encode_small_float(FloatFormat::float8_e8m0fnu, middle)));
  }
  EXPECT_ERROR(as(0), "0.0 does not fit");
  EXPECT_ERROR(as(-1), "-1.0 does not fit");
  EXPECT_EQ(as(-1, kClamp), 0x1p-127F);
  EXPECT_EQ(as(kInfinity, kClamp), 0x1p127F);
}

TEST(CastValue, TheSameRulesHoldWhenDecoding) {
  const auto codec = make_cast_value(to("float64", rounding("towards-zero")), spec_of({1}, kUint8));
  const auto decoded = [](const ArrayToArrayCodec& c, double value) {
    return std::to_integer<unsigned>(decoded_by(c, elements<double>({value}), 1)[0]);
  };
  EXPECT_EQ(decoded(*codec, 7.9), 7);
  EXPECT_ERROR(decoded(*codec, 256.0), "256.0 does not fit the data type uint8");
  EXPECT_ERROR(decoded(*codec, kNan), "NaN does not fit");
  EXPECT_EQ(decoded(*make_cast_value(to("float64", kClamp), spec_of({1}, kUint8)), 1000.0), 255);
}

TEST(CastValue, MappedScalarsComeFirstAndTheFirstDuplicateWins) {
  const auto codec = make_cast_value(to("uint8", R"(, "scalar_map": {
             "encode": [["NaN", 7], ["NaN", 8], ["Infinity", 255], [3, 100], [0, 9]],
             "decode": [[7, "NaN"], [255, "Infinity"], [255, 1], [9, -0.0]]})"),
                                     spec_of({7}, kFloat64));
  const std::vector<double> values{kNan, kInfinity, 3, 4, 0.0, -0.0, -kNan};
  const Bytes encoded = encoded_by(*codec, elements(values));
  EXPECT_EQ(encoded, bytes_of({7, 255, 100, 4, 9, 9, 7}));
  EXPECT_EQ(codec->encoded_spec().fill_value, bytes_of({9}));
  const auto decoded = values_of<double>(decoded_by(*codec, encoded, 56));
  EXPECT_TRUE(std::isnan(decoded[0]));
  EXPECT_EQ(decoded[1], kInfinity);
  EXPECT_EQ(decoded[2], 100);
  EXPECT_EQ(decoded[3], 4);
  EXPECT_TRUE(decoded[4] == 0 && std::signbit(decoded[4]));
}

TEST(CastValue, AMappedScalarIsStoredBitForBit) {
  const auto codec = make_cast_value(
      to("uint8", R"(, "scalar_map": {"decode": [[1, "0x7fc00001"]]})"), spec_of({1}, kFloat32));
  EXPECT_EQ(values_of<std::uint32_t>(decoded_by(*codec, bytes_of({1}), 4))[0], 0x7fc00001U);
  const auto exact = make_cast_value(
      to("int8", R"(, "scalar_map": {"encode": [[9007199254740993, 1]]}, "out_of_range": "clamp")"),
      spec_of({2}, kInt64));
  EXPECT_EQ(encoded_by(*exact, elements<std::int64_t>({9007199254740993, 9007199254740992})),
            bytes_of({1, 127}));
}

TEST(CastValue, TheFillValueIsCastToo) {
  const auto codec = make_cast_value(to("int16"), {{1}, kFloat64, elements<double>({-7.5})});
  EXPECT_EQ(codec->encoded_spec().fill_value, elements<std::int16_t>({-8}));
  EXPECT_EQ(codec->encoded_spec().data_type, kInt16);
  EXPECT_EQ(codec->encoded_spec().shape, Shape{1});
  EXPECT_ERROR(make_cast_value(to("int16"), {{1}, kFloat64, elements<double>({kNan})}),
               "the fill value: cast_value: NaN does not fit the data type int16");
}

TEST(CastValue, RoundTripsAllSizes) {
  for (const std::size_t count : {0, 1, 7, 255, 256, 257, 100003}) {
    std::vector<std::int32_t> numbers(count);
    for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<std::int32_t>(i % 4001) - 2000;
    for (const char* type : {"int16", "int64", "float16", "float32", "float64", "int32"}) {
      const auto codec =
          make_cast_value(to(type, R"(, "scalar_map": {"encode": [[5, 9]], "decode": [[-6, 6]]})"),
                          spec_of({count}, kInt32));
      auto expected = numbers;
      for (std::int32_t& number : expected) number = number == 5 ? 9 : number == -6 ? 6 : number;
      EXPECT_EQ(values_of<std::int32_t>(
                    decoded_by(*codec, encoded_by(*codec, elements(numbers)), count * 4)),
                expected)
          << type;
    }
  }
}

TEST(CastValue, StandsBehindScaleOffset) {
  const CodecChain chain = make_chain(R"([
      {"name": "scale_offset", "configuration": {"offset": -10, "scale": 0.1}},
      {"name": "cast_value", "configuration": {"data_type": "uint8",
         "scalar_map": {"encode": [["NaN", 0]], "decode": [[0, "NaN"]]}}}, "bytes"])",
                                      {{3}, kFloat64, elements<double>({kNan})});
  const Buffer encoded = chain.encode(elements<double>({0, kNan, 2000}));
  EXPECT_EQ(to_bytes(encoded.span()), bytes_of({1, 0, 201}));
  const auto decoded = chain.decode(encoded.span());
  const auto values = values_of<double>(decoded.elements.span());
  EXPECT_EQ(values[0], 1 / 0.1 - 10);
  EXPECT_TRUE(std::isnan(values[1]));
}

TEST(CastValue, RefusesConfigurationsThatAreNone) {
  const ChunkSpec spec = spec_of({1}, kFloat64);
  EXPECT_ERROR(make_cast_value("", spec), "\"data_type\" is missing");
  EXPECT_ERROR(make_cast_value(to("int17"), spec), "int17");
  EXPECT_ERROR(make_cast_value(to("int8", rounding("up")), spec),
               "\"rounding\" is \"up\", none of nearest-even, ");
  EXPECT_ERROR(make_cast_value(to("int8", R"(, "rounding": 1)"), spec), "\"rounding\" is 1");
  EXPECT_ERROR(make_cast_value(to("int8", R"(, "out_of_range": "saturate")"), spec),
               "\"out_of_range\" is \"saturate\", none of clamp, wrap");
  EXPECT_ERROR(make_cast_value(to("float32", kWrap), spec),
               "which is for integers, not for float32");
  EXPECT_ERROR(make_cast_value(to("int8", R"(, "scalar_map": [])"), spec),
               "\"scalar_map\" is a list");
  EXPECT_ERROR(make_cast_value(to("int8", R"(, "scalar_map": {"encode": {}})"), spec),
               "this is not a list");
  EXPECT_ERROR(make_cast_value(to("int8", R"(, "scalar_map": {"encode": [[1]]})"), spec),
               "\"scalar_map\", \"encode\": [1] is not a pair");
  EXPECT_ERROR(make_cast_value(to("int8", R"(, "scalar_map": {"decode": [[1000, 1]]})"), spec),
               "\"scalar_map\", \"decode\"", "1000", "int8");
  for (const char* type : {"bool", "complex64", "string", "r16"}) {
    EXPECT_ERROR(make_cast_value(to(type), spec), "are not real numbers") << type;
  }
  EXPECT_ERROR(make_cast_value(to("int8"), spec_of({1}, {TypeKind::complex, 8})),
               "complex64 are not real numbers");
}

}  // namespace
}  // namespace zarrcore::test::cast_value_test
