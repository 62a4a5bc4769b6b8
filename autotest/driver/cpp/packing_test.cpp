#include "driver/conventions/packing.h"

#include <gtest/gtest.h>

#include <cstring>

namespace gdal_zarr::test::packing_test {
namespace {

using zarrcore::DataType;
using zarrcore::TypeKind;

constexpr bool kMandatory = true;

Packing packing_of(const DataType& type, std::string_view attributes,
                   std::optional<std::vector<std::byte>> fill_value = {},
                   bool is_mandatory = false) {
  zarrcore::ArrayMetadata array;
  array.data_type = type;
  array.attributes = zarrcore::parse_json(attributes);
  array.fill_value = std::move(fill_value);
  array.fill_value_is_mandatory = is_mandatory;
  return read_packing(array);
}

template <typename T>
std::vector<std::byte> element(T value) {
  std::vector<std::byte> bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

const DataType kInt16{TypeKind::signed_integer, 2};
const DataType kFloat32{TypeKind::floating, 4};

TEST(Packing, ScaleOffsetAndUnit) {
  const Packing packing =
      packing_of(kInt16, R"({"scale_factor": 0.01, "add_offset": [273.15], "units": "K"})");
  EXPECT_EQ(packing.scale, 0.01);
  EXPECT_EQ(packing.offset, 273.15);
  EXPECT_EQ(packing.unit, "K");
  EXPECT_EQ(packing.consumed_attributes,
            (std::vector<std::string>{"scale_factor", "add_offset", "units"}));
  const Packing none = packing_of(kInt16, R"({"scale_factor": "0.01", "units": 7})");
  EXPECT_FALSE(none.scale);
  EXPECT_EQ(none.unit, "");
  EXPECT_TRUE(none.consumed_attributes.empty());
}

TEST(Packing, NodataIsTheFillValueAttributeFirst) {
  EXPECT_EQ(
      packing_of(kInt16, R"({"_FillValue": -1, "missing_value": -2})", element<short>(-3)).nodata,
      element<short>(-1));
  EXPECT_EQ(packing_of(kInt16, R"({"missing_value": [-2]})", element<short>(-3)).nodata,
            element<short>(-2));
  EXPECT_EQ(packing_of(kInt16, "{}", element<short>(-3)).nodata, element<short>(-3));
  EXPECT_EQ(packing_of(kInt16, R"({"_FillValue": 99999})", element<short>(-3)).nodata,
            element<short>(-3));
}

TEST(Packing, ZeroThatEveryWriterHasToStateIsNoNodata) {
  EXPECT_FALSE(packing_of(kInt16, "{}", element<short>(0), kMandatory).nodata);
  EXPECT_EQ(packing_of(kInt16, "{}", element<short>(0)).nodata, element<short>(0));
  EXPECT_EQ(packing_of(kInt16, "{}", element<short>(7), kMandatory).nodata, element<short>(7));
  EXPECT_EQ(packing_of(kInt16, R"({"_FillValue": 0})", element<short>(0), kMandatory).nodata,
            element<short>(0));
}

TEST(Packing, XarrayWritesFloatsOfV3InBase64) {
  const auto nan = packing_of(kFloat32, R"({"_FillValue": "AAAAAAAA+H8="})").nodata;
  ASSERT_TRUE(nan);
  float value = 0;
  std::memcpy(&value, nan->data(), sizeof(value));
  EXPECT_NE(value, value);
  EXPECT_EQ(packing_of(kFloat32, R"({"_FillValue": "AAAAAABAj8A="})").nodata, element(-1000.0F));
}

TEST(Packing, TimesHaveUnits) {
  DataType time{TypeKind::datetime, 8};
  time.time_unit = {"ns", 1};
  EXPECT_EQ(time_units(time), "nanoseconds since 1970-01-01");
  EXPECT_EQ(packing_of(time, "{}").unit, "nanoseconds since 1970-01-01");
  time.kind = TypeKind::timedelta;
  time.time_unit = {"h", 6};
  EXPECT_EQ(time_units(time), "6 hours");
  EXPECT_EQ(time_units(kInt16), "");
  // R's stars takes a time whose attributes have no calendar for no time.
  EXPECT_EQ(packing_of(kInt16, R"({"units": "days since 2000-01-01"})").consumed_attributes,
            std::vector<std::string>{"units"});
}

}  // namespace
}  // namespace gdal_zarr::test::packing_test
