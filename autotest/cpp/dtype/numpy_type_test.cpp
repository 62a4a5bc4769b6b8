#include <gtest/gtest.h>

#include "zarrcore/dtype/data_type.h"

namespace zarrcore::test::numpy_type_test {
namespace {

TEST(NumpyType, ATypeStringHasAByteOrderAKindAndASize) {
  const auto big = parse_numpy_type(">f4");
  ASSERT_TRUE(big);
  EXPECT_EQ(big->type, (DataType{TypeKind::floating, 4}));
  EXPECT_EQ(big->endian, Endian::big);
  EXPECT_EQ(parse_numpy_type("<u2")->endian, Endian::little);
  EXPECT_EQ(parse_numpy_type("=u2")->endian, Endian::little);  // on every host
  EXPECT_EQ(parse_numpy_type("!u2")->endian, Endian::big);     // network order
  EXPECT_EQ(parse_numpy_name("!d")->endian, Endian::big);
  const auto time = parse_numpy_type("<M8[10us]");
  ASSERT_TRUE(time);
  EXPECT_EQ(time->type.kind, TypeKind::datetime);
  EXPECT_EQ(time->type.time_unit, (TimeUnit{"us", 10}));
}

TEST(NumpyType, WhatIsNoneIsRefused) {
  for (const char* text : {"", "<", "f", "<f3", "<i16", "<M8[x]", "<M8[0s]", "<M8[s", "|V0", "<f4x",
                           "float8_e4m3", "int4", "string", "datetime64[ns]"}) {
    EXPECT_FALSE(parse_numpy_type(text)) << text;
  }
}

TEST(NumpyType, NamesAreThoseThatNumpyTakes) {
  const auto type = [](const char* text) { return parse_numpy_name(text).value().type; };
  EXPECT_EQ(type("float"), (DataType{TypeKind::floating, 8}));
  EXPECT_EQ(type("f"), (DataType{TypeKind::floating, 4}));
  EXPECT_EQ(type("single"), (DataType{TypeKind::floating, 4}));
  EXPECT_EQ(type("i"), (DataType{TypeKind::signed_integer, 4}));
  EXPECT_EQ(type("int"), (DataType{TypeKind::signed_integer, 8}));
  EXPECT_EQ(type("uint16"), (DataType{TypeKind::unsigned_integer, 2}));
  EXPECT_EQ(type("datetime64[ns]"), type("<M8[ns]"));
  EXPECT_EQ(type("timedelta64[s]"), type("<m8[s]"));
  EXPECT_EQ(parse_numpy_name(">d")->endian, Endian::big);
  EXPECT_EQ(type(">d"), (DataType{TypeKind::floating, 8}));
  EXPECT_FALSE(parse_numpy_name("decimal"));
}

TEST(NumpyType, IsWrittenAsItIsRead) {
  for (const char* text : {"|b1", "|i1", "<i2", ">i4", "<u8", ">f2", "<f8", ">c8", "<c16", "<M8",
                           ">M8[10us]", "<m8[D]", "|S12", "<U8", ">U1", "|V3"}) {
    const NumpyType type = parse_numpy_type(text).value();
    EXPECT_EQ(format_numpy_type(type.type, type.endian), text);
  }
}

TEST(NumpyType, WhatNumPyDoesNotHaveIsNotWritten) {
  for (const char* name : {"int4", "uint2", "bfloat16", "float8_e5m2", "string", "bytes"}) {
    EXPECT_EQ(format_numpy_type(parse_type_name(name).value(), Endian::little), std::nullopt);
  }
  const DataType structure = make_structure({{"a", {TypeKind::signed_integer, 2}}});
  EXPECT_EQ(format_numpy_type(structure, Endian::little), std::nullopt);
}

}  // namespace
}  // namespace zarrcore::test::numpy_type_test
