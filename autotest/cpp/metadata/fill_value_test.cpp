#include "zarrcore/metadata/fill_value.h"

#include <gtest/gtest.h>

#include <limits>

#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/expect_error.h"

namespace zarrcore::test::fill_value_test {
namespace {

const DataType kBool{TypeKind::boolean, 1};
const DataType kInt8{TypeKind::signed_integer, 1};
const DataType kInt16{TypeKind::signed_integer, 2};
const DataType kInt32{TypeKind::signed_integer, 4};
const DataType kInt64{TypeKind::signed_integer, 8};
const DataType kUint8{TypeKind::unsigned_integer, 1};
const DataType kUint16{TypeKind::unsigned_integer, 2};
const DataType kUint32{TypeKind::unsigned_integer, 4};
const DataType kUint64{TypeKind::unsigned_integer, 8};
const DataType kFloat16{TypeKind::floating, 2};
const DataType kFloat32{TypeKind::floating, 4};
const DataType kFloat64{TypeKind::floating, 8};
const DataType kComplex64{TypeKind::complex, 8};
const DataType kComplex128{TypeKind::complex, 16};
const DataType kRaw24{TypeKind::raw, 3};
const DataType kBytes5{TypeKind::fixed_bytes, 5};
const DataType kText3{TypeKind::fixed_utf32, 12};

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Bytes parsed(std::string_view json, const DataType& type) {
  return parse_fill_value(parse_json(json), type);
}

// The bytes of several numbers one after the other.
template <typename... Numbers>
Bytes in_memory(Numbers... numbers) {
  Bytes all;
  for (const Bytes& bytes : {bytes_in_memory(numbers)...}) {
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  return all;
}

void expect_refused(const DataType& type, std::initializer_list<std::string_view> spellings) {
  for (const std::string_view json : spellings) {
    EXPECT_ERROR(parsed(json, type), "the fill value", "does not fit the data type",
                 type_name(type))
        << json;
  }
}

TEST(FillValue, OfBool) {
  EXPECT_EQ(parsed("true", kBool), bytes_of({1}));
  EXPECT_EQ(parsed("false", kBool), bytes_of({0}));
  EXPECT_EQ(parsed("1", kBool), bytes_of({1}));
  EXPECT_EQ(parsed("0", kBool), bytes_of({0}));
  EXPECT_EQ(parsed("0.0", kBool), bytes_of({0}));
  expect_refused(kBool, {"2", "-1", "0.5", "NaN", "\"true\"", "[]", "{}", "null"});
}

TEST(FillValue, OfIntegersUpToTheirLimits) {
  EXPECT_EQ(parsed("-128", kInt8), in_memory(std::int8_t{-128}));
  EXPECT_EQ(parsed("127", kInt8), in_memory(std::int8_t{127}));
  EXPECT_EQ(parsed("-32768", kInt16), in_memory(std::int16_t{-32768}));
  EXPECT_EQ(parsed("-2147483648", kInt32), in_memory(std::int32_t{INT32_MIN}));
  EXPECT_EQ(parsed("-9223372036854775808", kInt64), in_memory(std::int64_t{INT64_MIN}));
  EXPECT_EQ(parsed("9223372036854775807", kInt64), in_memory(std::int64_t{INT64_MAX}));
  EXPECT_EQ(parsed("255", kUint8), in_memory(std::uint8_t{255}));
  EXPECT_EQ(parsed("65535", kUint16), in_memory(std::uint16_t{65535}));
  EXPECT_EQ(parsed("4294967295", kUint32), in_memory(std::uint32_t{UINT32_MAX}));
  EXPECT_EQ(parsed("18446744073709551615", kUint64), in_memory(std::uint64_t{UINT64_MAX}));
}

TEST(FillValue, OfIntegersInEverySpelling) {
  for (const char* json : {"-7", "-7.0", "\"-7\"", "[-7]", "[[\"-7\"]]", "-0.7e1"}) {
    EXPECT_EQ(parsed(json, kInt16), in_memory(std::int16_t{-7})) << json;
  }
  EXPECT_EQ(parsed("true", kUint8), bytes_of({1}));
  EXPECT_EQ(parsed("-0.0", kUint8), bytes_of({0}));
  EXPECT_EQ(parsed("1e18", kInt64), in_memory(std::int64_t{1000000000000000000}));
  EXPECT_EQ(parsed("\"18446744073709551615\"", kUint64), in_memory(std::uint64_t{UINT64_MAX}));
}

TEST(FillValue, OfIntegersRefusesWhatIsNone) {
  expect_refused(kInt8,
                 {"128",       "-129",    "1.5",     "NaN",    "Infinity", "-Infinity", "1e300",
                  "\"\"",      "\"-\"",   "\"--1\"", "\"+1\"", "\" 1\"",   "\"1.5\"",   "\"0x0g\"",
                  "\"0x100\"", "\"0b2\"", "\"NaN\"", "{}",     "[]",       "[1,2]",     "null"});
  expect_refused(kUint8, {"-1", "256", "\"-1\""});
  expect_refused(kInt64, {"9223372036854775808", "-9.3e18", "9.3e18"});
  expect_refused(kUint64, {"18446744073709551616", "-1", "\"18446744073709551616\""});
}

TEST(FillValue, OfIntegersInOtherBasesAsTheDraftHasThem) {
  EXPECT_EQ(parsed("\"0x0102\"", kUint16), in_memory(std::uint16_t{0x0102}));
  EXPECT_EQ(parsed("\"0b101\"", kUint8), bytes_of({5}));
  EXPECT_EQ(parsed("\"-0x80\"", kInt8), bytes_of({0x80}));
  for (const char* zero : {"\"0x00\"", "\"0b00\"", "\"0x0\""}) {
    EXPECT_EQ(parsed(zero, kUint16), bytes_of({0, 0})) << zero;
  }
  EXPECT_EQ(parsed("\"+Infinity\"", kFloat64), in_memory(kInfinity));
}

TEST(FillValue, OfFloatsAsNumbers) {
  EXPECT_EQ(parsed("1.5", kFloat16), in_memory(std::uint16_t{0x3e00}));
  EXPECT_EQ(parsed("0.1", kFloat32), in_memory(0.1F));
  EXPECT_EQ(parsed("0.1", kFloat64), in_memory(0.1));
  EXPECT_EQ(parsed("-9999", kFloat32), in_memory(-9999.0F));
  EXPECT_EQ(parsed("18446744073709551615", kFloat64), in_memory(18446744073709551616.0));
  EXPECT_EQ(parsed("9.969209968386869e+36", kFloat32), in_memory(9.969209968386869e+36F));
  EXPECT_EQ(parsed("[-9999.0]", kFloat64), in_memory(-9999.0));
}

TEST(FillValue, NegativeZeroKeepsItsSign) {
  EXPECT_EQ(parsed("-0.0", kFloat16), in_memory(std::uint16_t{0x8000}));
  EXPECT_EQ(parsed("-0.0", kFloat32), in_memory(-0.0F));
  EXPECT_EQ(parsed("-0.0", kFloat64), in_memory(-0.0));
}

TEST(FillValue, OfFloatsAsWords) {
  for (const char* json : {"\"Infinity\"", "Infinity", "[\"Infinity\"]"}) {
    EXPECT_EQ(parsed(json, kFloat64), in_memory(kInfinity)) << json;
  }
  for (const char* json : {"\"-Infinity\"", "-Infinity"}) {
    EXPECT_EQ(parsed(json, kFloat32), in_memory(static_cast<float>(-kInfinity))) << json;
  }
  // The NaN of the specification: positive, quiet, no payload.
  for (const char* json : {"\"NaN\"", "NaN"}) {
    EXPECT_EQ(parsed(json, kFloat16), in_memory(std::uint16_t{0x7e00})) << json;
    EXPECT_EQ(parsed(json, kFloat32), in_memory(std::uint32_t{0x7fc00000})) << json;
    EXPECT_EQ(parsed(json, kFloat64), in_memory(std::uint64_t{0x7ff8000000000000})) << json;
  }
}

TEST(FillValue, OfFloatsAsBits) {
  EXPECT_EQ(parsed("\"0x7fc00001\"", kFloat32), in_memory(std::uint32_t{0x7fc00001}));
  EXPECT_EQ(parsed("\"0xFFF8000000000001\"", kFloat64), in_memory(0xfff8000000000001));
  EXPECT_EQ(parsed("\"0x3e00\"", kFloat16), in_memory(std::uint16_t{0x3e00}));
}

TEST(FillValue, BinaryDigitsHaveTheWidthOfTheFloat) {
  EXPECT_EQ(parsed("\"0b0011111000000000\"", kFloat16), in_memory(std::uint16_t{0x3e00}));
  const DataType bfloat16{TypeKind::floating, 2, 0, FloatFormat::bfloat16};
  EXPECT_EQ(parsed("\"0b0011111111000000\"", bfloat16), in_memory(std::uint16_t{0x3fc0}));
  const DataType small{TypeKind::floating, 1, 0, FloatFormat::float8_e5m2};
  EXPECT_EQ(parsed("\"0b11111111\"", small), bytes_of({0xff}));
  expect_refused(bfloat16, {"\"0b001111111100000\"", "\"0b" + std::string(64, '0') + "\""});
}

TEST(FillValue, OfFloatsAsText) {
  EXPECT_EQ(parsed("\"-1.5e3\"", kFloat32), in_memory(-1500.0F));
}

TEST(FillValue, OfFloatsRefusesWhatIsNone) {
  expect_refused(kFloat32,
                 {"\"\"", "\"x\"", "\"1.5x\"", "\"0x7fc0000\"", "\"0x7fc000001\"", "\"0x7fc0000g\"",
                  "\"0x\"", "\"0x-7fc0000\"", "true", "{}", "[]", "[1,2]", "null"});
}

TEST(FillValue, ANumberThatIsTooLargeForAFloatIsInfinite) {
  EXPECT_EQ(parsed("1e300", kFloat32), in_memory(std::numeric_limits<float>::infinity()));
  EXPECT_EQ(parsed("-65520", kFloat16), in_memory(std::uint16_t{0xfc00}));
}

TEST(FillValue, OfComplexIsAListOfTwo) {
  EXPECT_EQ(parsed("[1, -2.5]", kComplex64), in_memory(1.0F, -2.5F));
  EXPECT_EQ(parsed("[\"NaN\", \"-Infinity\"]", kComplex128),
            in_memory(std::numeric_limits<double>::quiet_NaN(), -kInfinity));
  EXPECT_EQ(parsed("[\"0x7fc00001\", 0.0]", kComplex64),
            in_memory(std::uint32_t{0x7fc00001}, std::uint32_t{0}));
}

TEST(FillValue, PartsOfComplexNumbersAreFloatsOfAnyFormat) {
  EXPECT_EQ(parsed("[1.5, -2]", {TypeKind::complex, 4}),
            in_memory(std::uint16_t{0x3e00}, std::uint16_t{0xc000}));
  EXPECT_EQ(parsed("[\"0x3fc0\", -2]", {TypeKind::complex, 4, 0, FloatFormat::bfloat16}),
            in_memory(std::uint16_t{0x3fc0}, std::uint16_t{0xc000}));
  EXPECT_EQ(parsed("[1, \"0xff\"]", {TypeKind::complex, 2, 0, FloatFormat::float8_e5m2}),
            bytes_of({0x3c, 0xff}));
  EXPECT_EQ(parsed("1", {TypeKind::complex, 2, 0, FloatFormat::float8_e5m2}), bytes_of({0x3c, 0}));
  expect_refused({TypeKind::complex, 4, 0, FloatFormat::bfloat16}, {"[\"0x3f\", 0]", "\"x\""});
}

TEST(FillValue, ANumberAloneHasNoImaginaryPart) {
  EXPECT_EQ(parsed("3.5", kComplex128), in_memory(3.5, 0.0));
  EXPECT_EQ(parsed("\"NaN\"", kComplex64),
            in_memory(std::numeric_limits<float>::quiet_NaN(), 0.0F));
}

TEST(FillValue, OfComplexRefusesWhatIsNone) {
  expect_refused(kComplex64, {"[1, 2, 3]", "[]", "[1, \"x\"]", "[[1], 2]", "{}", "\"1+2j\""});
}

TEST(FillValue, OfRawBits) {
  EXPECT_EQ(parsed("[1, 2, 255]", kRaw24), bytes_of({1, 2, 255}));
  EXPECT_EQ(parsed("\"AQL/\"", kRaw24), bytes_of({1, 2, 255}));
  EXPECT_EQ(parsed("0", kRaw24), bytes_of({0, 0, 0}));
  EXPECT_EQ(parsed("\"\"", kRaw24), bytes_of({0, 0, 0}));
  EXPECT_EQ(parsed("[7]", {TypeKind::raw, 1}), bytes_of({7}));
  expect_refused(kRaw24, {"[1, 2]", "[1, 2, 3, 4]", "[1, 2, 256]", "[1, 2, -1]", "[1, 2, 3.0]",
                          "\"AQI=\"", "\"AQL/AA==\"", "\"!!!!\"", "1", "{}", "null"});
}

TEST(FillValue, OfByteStringsIsPadded) {
  EXPECT_EQ(parsed("\"YWJj\"", kBytes5), bytes_of({'a', 'b', 'c', 0, 0}));
  EXPECT_EQ(parsed("\"YWJjAAA=\"", kBytes5), bytes_of({'a', 'b', 'c', 0, 0}));
  EXPECT_EQ(parsed("\"\"", kBytes5), Bytes(5));
  EXPECT_EQ(parsed("0", kBytes5), Bytes(5));
  expect_refused(kBytes5, {"\"YWJjZGVm\"", "\"a b\"", "1", "true", "null"});
}

TEST(FillValue, OfTextIsOneCodePointPerUnit) {
  EXPECT_EQ(parsed("\"aß🌍\"", kText3),
            in_memory(std::uint32_t{'a'}, std::uint32_t{0xdf}, std::uint32_t{0x1f30d}));
  EXPECT_EQ(parsed("\"€\"", kText3),
            in_memory(std::uint32_t{0x20ac}, std::uint32_t{0}, std::uint32_t{0}));
  EXPECT_EQ(parsed("\"\"", kText3), Bytes(12));
  EXPECT_EQ(parsed("0", kText3), Bytes(12));
  expect_refused(kText3, {"\"abcd\"", "1", "{}", "null"});
}

TEST(FillValue, TheMessageQuotesLongValuesInPart) {
  EXPECT_ERROR(parsed("\"" + std::string(1000, 'x') + "\"", kFloat32), "xxx...");
}

}  // namespace
}  // namespace zarrcore::test::fill_value_test
