// Fill values as they are written: in the spelling of v3, read back bit for bit.
#include <gtest/gtest.h>

#include <limits>

#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/expect_error.h"
#include "zarrcore/base/endian.h"
#include "zarrcore/dtype/small_float.h"
#include "zarrcore/metadata/fill_value.h"

namespace zarrcore::test::fill_value_format_test {
namespace {

const DataType kInt16{TypeKind::signed_integer, 2};
const DataType kFloat16{TypeKind::floating, 2};
const DataType kFloat32{TypeKind::floating, 4};
const DataType kFloat64{TypeKind::floating, 8};
const DataType kComplex64{TypeKind::complex, 8};
const DataType kText2{TypeKind::fixed_utf32, 8};

std::string formatted(const Bytes& element, const DataType& type) {
  return dump_json(format_fill_value(element, type));
}

DataType named(std::string_view name) {
  return parse_type_name(name).value();
}

// The JSON text comes out again when it is read and written.
void expect_kept(std::string_view json, const DataType& type) {
  EXPECT_EQ(formatted(parse_fill_value(parse_json(json), type), type), json);
}

TEST(FormatFillValue, OfBoolsAndIntegers) {
  expect_kept("true", named("bool"));
  expect_kept("false", named("bool"));
  expect_kept("-128", named("int8"));
  expect_kept("-32768", named("int16"));
  expect_kept("-2147483648", named("int32"));
  expect_kept("-9223372036854775807", named("int64"));
  expect_kept("-9223372036854775808", named("int64"));
  expect_kept("255", named("uint8"));
  expect_kept("65535", named("uint16"));
  expect_kept("4294967295", named("uint32"));
  expect_kept("18446744073709551615", named("uint64"));
  expect_kept("-8", named("int4"));
  expect_kept("15", named("uint4"));
}

TEST(FormatFillValue, OfFloatsIsANumberOrAWord) {
  for (const DataType& type : {kFloat16, kFloat32, kFloat64}) {
    for (const char* json :
         {"0.0", "-0.0", "1.5", "-65504.0", "\"NaN\"", "\"Infinity\"", "\"-Infinity\""}) {
      expect_kept(json, type);
    }
  }
  expect_kept("0.1", kFloat64);
  expect_kept("1.7976931348623157e+308", kFloat64);
  expect_kept("5e-324", kFloat64);
  EXPECT_EQ(formatted(bytes_in_memory(0.1F), kFloat32), "0.10000000149011612");
}

TEST(FormatFillValue, OtherNansAreTheirBits) {
  expect_kept("\"0x7e01\"", kFloat16);
  expect_kept("\"0xffc00000\"", kFloat32);
  expect_kept("\"0x7f800001\"", kFloat32);
  expect_kept("\"0x7ff8000000000001\"", kFloat64);
  EXPECT_EQ(formatted(bytes_in_memory(std::numeric_limits<float>::quiet_NaN()), kFloat32),
            "\"NaN\"");
}

// Every bit pattern of the types of two bytes and less.
TEST(FormatFillValue, OfSmallFloatsReadsBackBitForBit) {
  for (const char* name : {"float16", "bfloat16"}) {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
      const Bytes element = bytes_in_memory(static_cast<std::uint16_t>(bits));
      ASSERT_EQ(parse_fill_value(format_fill_value(element, named(name)), named(name)), element)
          << name << " " << bits;
    }
  }
  for (const char* name : {"float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn",
                           "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu",
                           "float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn", "int8", "uint8"}) {
    for (unsigned bits = 0; bits < 0x100; ++bits) {
      const Bytes element = bytes_of({bits});
      ASSERT_EQ(parse_fill_value(format_fill_value(element, named(name)), named(name)), element)
          << name << " " << bits;
    }
  }
}

// Including the text that is stored.
TEST(FormatFillValue, OfFloatsReadsBackBitForBit) {
  Random random(7);
  for (const DataType& type : {kFloat32, kFloat64, kComplex64, named("complex128")}) {
    for (int i = 0; i < 2000; ++i) {
      const Bytes element = random_bytes(random, type.item_size);
      const Json read = parse_json(formatted(element, type));
      ASSERT_EQ(parse_fill_value(read, type), element) << read;
    }
  }
}

TEST(FormatFillValue, OfComplexIsAListOfTwo) {
  expect_kept("[1.0,-0.0]", kComplex64);
  expect_kept("[\"NaN\",\"-Infinity\"]", kComplex64);
  expect_kept("[\"0x7fc00001\",0.5]", kComplex64);
  expect_kept("[\"0x7e01\",-0.5]", named("complex_float16"));
  expect_kept("[\"0x7fc1\",\"NaN\"]", named("complex_bfloat16"));
  expect_kept("[448.0,\"NaN\"]", named("complex_float8_e4m3fn"));
}

TEST(FormatFillValue, OfTimes) {
  for (const TypeKind kind : {TypeKind::datetime, TypeKind::timedelta}) {
    const DataType type{kind, 8, 0, FloatFormat::ieee, {"ns", 10}};
    expect_kept("\"NaT\"", type);
    expect_kept("-9223372036854775807", type);
    expect_kept("0", type);
  }
}

TEST(FormatFillValue, OfBytes) {
  expect_kept("[1,0,255]", named("r24"));
  expect_kept("[7]", named("r8"));
  const DataType fixed{TypeKind::fixed_bytes, 5};
  expect_kept("\"YWI=\"", fixed);  // "ab": the padding is none of the text
  expect_kept("\"\"", fixed);
  expect_kept("\"AGFi\"", fixed);  // a zero before it is
  expect_kept("\"AAEC\"", named("bytes"));
  expect_kept("\"\"", named("bytes"));
}

TEST(FormatFillValue, OfLongDoublesHasNoBits) {
  const DataType x87{TypeKind::floating, 16, 0, FloatFormat::float80};
  Bytes element(16);
  encode_long_double(FloatFormat::float80, std::numeric_limits<double>::quiet_NaN(),
                     element.data());
  EXPECT_EQ(formatted(element, x87), "\"NaN\"");
  element[kHostEndian == Endian::little ? 0 : 15] |= std::byte{1};  // another NaN
  EXPECT_EQ(formatted(element, x87), "\"NaN\"");
}

TEST(FormatFillValue, OfTexts) {
  expect_kept("\"\"", kText2);
  expect_kept("\"a\"", kText2);
  expect_kept("\"é😀\"", kText2);
  expect_kept("\"\"", named("string"));
  expect_kept("\"n/a €\"", named("string"));
  EXPECT_ERROR(formatted(bytes_in_memory(std::uint64_t{0x110000}), kText2),
               "the fill value: 1114112 is not a code point of a character");
  EXPECT_ERROR(formatted(bytes_in_memory(std::uint64_t{0xd800}), kText2),
               "55296 is not a code point");
  EXPECT_ERROR(formatted(bytes_of({0xff}), named("string")), "the fill value is not valid UTF-8");
}

TEST(FormatFillValue, OfStructuresIsAnObject) {
  const DataType inner = make_structure({{"x", kFloat32}, {"y", {TypeKind::fixed_bytes, 3}}});
  const DataType type = make_structure({{"n", kInt16}, {"in", inner}, {"r", named("r16")}});
  expect_kept(R"({"n":-7,"in":{"x":"NaN","y":"YQ=="},"r":[1,2]})", type);
}

TEST(FormatFillValue, OfStructuresThatAreNoObjectsIsTheirBytes) {
  const DataType equal_names = make_structure({{"", kInt16}, {"", kInt16}});
  const DataType subarray = make_structure({{"a", kInt16, 0, 2, {2}}});
  for (const DataType& type : {equal_names, subarray}) {
    const Bytes element = bytes_of({1, 2, 3, 4});
    EXPECT_EQ(formatted(element, type), "\"AQIDBA==\"");
    EXPECT_EQ(parse_fill_value(format_fill_value(element, type), type), element);
  }
}

}  // namespace
}  // namespace zarrcore::test::fill_value_format_test
