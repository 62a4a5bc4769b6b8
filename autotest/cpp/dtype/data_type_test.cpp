#include "zarrcore/dtype/data_type.h"

#include <gtest/gtest.h>

namespace zarrcore::test {
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

TEST(DataType, OtherNamesAreNone) {
  for (const char* name : {"", "int", "int24", "float128", "Int8", "r", "r0", "r7", "r12", "r-8",
                           "r8x", "r99999999999999999999999", "r18446744073709551608", "string"}) {
    EXPECT_EQ(parse_type_name(name), std::nullopt) << name;
  }
}

TEST(DataType, TheUnitOfByteOrder) {
  EXPECT_EQ((DataType{TypeKind::floating, 8}.swap_unit()), 8);
  EXPECT_EQ((DataType{TypeKind::complex, 16}.swap_unit()), 8);
  EXPECT_EQ((DataType{TypeKind::fixed_utf32, 48}.swap_unit()), 4);
  EXPECT_EQ((DataType{TypeKind::fixed_bytes, 12}.swap_unit()), 1);
  EXPECT_EQ((DataType{TypeKind::raw, 4}.swap_unit()), 1);
  EXPECT_EQ((DataType{TypeKind::boolean, 1}.swap_unit()), 1);
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
}  // namespace zarrcore::test
