#include "zarrcore/dtype/data_type.h"

#include <gtest/gtest.h>

#include "autotest/cpp/support/expect_error.h"

namespace zarrcore::test::data_type_test {
namespace {

TEST(DataType, CoreNamesGoBothWays) {
  for (const char* name :
       {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
        "float32", "float64", "complex64", "complex128", "r8", "r24", "r4096"}) {
    const auto type = parse_type_name(name);
    ASSERT_TRUE(type) << name;
    EXPECT_EQ(type_name(*type), name);
  }
}

TEST(DataType, TheNumberInANameIsItsBits) {
  EXPECT_EQ(parse_type_name("int32"), (DataType{TypeKind::signed_integer, 4}));
  EXPECT_EQ(parse_type_name("complex64"), (DataType{TypeKind::complex, 8}));
  EXPECT_EQ(parse_type_name("r24"), (DataType{TypeKind::raw, 3}));
}

TEST(DataType, ComplexNumbersOfEveryFloat) {
  for (const char* part :
       {"bfloat16", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn",
        "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu", "float6_e2m3fn",
        "float6_e3m2fn", "float4_e2m1fn", "float16"}) {
    const std::string name = std::string("complex_") + part;
    const auto type = parse_type_name(name);
    ASSERT_TRUE(type) << name;
    EXPECT_EQ(type->kind, TypeKind::complex);
    EXPECT_EQ(type->part_type(), parse_type_name(part)) << name;
    EXPECT_EQ(type_name(*type), name);
  }
  EXPECT_EQ(parse_type_name("complex32"), parse_type_name("complex_float16"));
  EXPECT_EQ(parse_type_name("complex_float32"), parse_type_name("complex64"));
  EXPECT_EQ(parse_type_name("complex_float64"), parse_type_name("complex128"));
}

TEST(DataType, OtherNamesAreNone) {
  for (const char* name : {"", "int", "int24", "float128", "Int8", "r", "r0", "r7", "r12", "r-8",
                           "r8x", "r99999999999999999999999", "r18446744073709551608"}) {
    EXPECT_EQ(parse_type_name(name), std::nullopt) << name;
  }
}

TEST(DataType, TheUnitsOfByteOrder) {
  const auto units = [](const DataType& type) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> pairs;
    for (const ByteUnit& unit : byte_units(type)) pairs.emplace_back(unit.offset, unit.size);
    return pairs;
  };
  using Pairs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  EXPECT_EQ(units({TypeKind::floating, 8}), (Pairs{{0, 8}}));
  EXPECT_EQ(units({TypeKind::complex, 16}), (Pairs{{0, 8}, {8, 8}}));
  EXPECT_EQ(units({TypeKind::complex, 4}), (Pairs{{0, 2}, {2, 2}}));
  EXPECT_EQ(units({TypeKind::complex, 2, 0, FloatFormat::float8_e5m2}), Pairs{});
  EXPECT_EQ(units({TypeKind::fixed_utf32, 12}), (Pairs{{0, 4}, {4, 4}, {8, 4}}));
  EXPECT_EQ(units({TypeKind::datetime, 8}), (Pairs{{0, 8}}));
  EXPECT_EQ(units({TypeKind::fixed_bytes, 12}), Pairs{});
  EXPECT_EQ(units({TypeKind::raw, 4}), Pairs{});
  EXPECT_EQ(units({TypeKind::boolean, 1}), Pairs{});
  const DataType pair = make_structure(
      {{"a", {TypeKind::signed_integer, 2}}, {"b", {TypeKind::complex, 8}, 0, 2, {2}}});
  EXPECT_EQ(pair.item_size, 18);
  EXPECT_EQ(units(pair), (Pairs{{0, 2}, {2, 4}, {6, 4}, {10, 4}, {14, 4}}));
}

TEST(DataType, StructuresAreBoundedAndOfFixedSize) {
  const DataType large{TypeKind::raw, kMaxItemSize};
  EXPECT_ERROR(make_structure({{"a", large}, {"b", {TypeKind::boolean, 1}}}), "too large");
  EXPECT_ERROR(make_structure({{"a", large, 0, UINT64_MAX}}), "too large");
  EXPECT_ERROR(make_structure({}), "without fields");
  EXPECT_ERROR(make_structure({{"text", *parse_type_name("string")}}), "text");
}

TEST(DataType, NumbersAndStringsAreToldApart) {
  EXPECT_TRUE((DataType{TypeKind::boolean, 1}.is_numeric()));
  EXPECT_TRUE((DataType{TypeKind::complex, 8}.is_numeric()));
  EXPECT_FALSE((DataType{TypeKind::raw, 8}.is_numeric()));
  EXPECT_FALSE((DataType{TypeKind::raw, 8}.is_string()));
  EXPECT_TRUE((DataType{TypeKind::fixed_bytes, 8}.is_string()));
  EXPECT_TRUE((DataType{TypeKind::fixed_utf32, 8}.is_string()));
}

}  // namespace
}  // namespace zarrcore::test::data_type_test
