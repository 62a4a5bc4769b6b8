// What write_packing() changes, and that read_packing() finds in the result what was set.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>

#include "driver/conventions/packing.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr::test::packing_write_test {
namespace {

using zarrcore::ArrayMetadata;
using zarrcore::DataType;
using zarrcore::Json;
using zarrcore::TypeKind;
using Element = std::vector<std::byte>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

const DataType kInt16{TypeKind::signed_integer, 2};
const DataType kFloat32{TypeKind::floating, 4};

template <typename T>
Element element(T value) {
  Element bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

ArrayMetadata v2_array(const DataType& type, std::optional<Element> fill_value = {},
                       const char* attributes = "{}") {
  ArrayMetadata array;
  array.data_type = type;
  array.fill_value = std::move(fill_value);
  array.attributes = zarrcore::parse_json(attributes);
  return array;
}

ArrayMetadata v3_array(const DataType& type, std::optional<Element> fill_value = {},
                       const char* attributes = "{}") {
  if (!fill_value) fill_value.emplace(type.item_size);
  ArrayMetadata array = v2_array(type, std::move(fill_value), attributes);
  array.fill_value_is_mandatory = true;
  array.fill_value_attribute_is_base64 = true;
  return array;
}

ArrayMetadata written(ArrayMetadata array, const Packing& packing, bool is_new) {
  const PackingChange change = write_packing(array, packing, is_new);
  array.attributes = apply_change(std::move(array.attributes), change.attributes);
  if (change.fill_value) array.fill_value = change.fill_value->element;
  const Packing read = read_packing(array);
  EXPECT_EQ(read.scale, packing.scale);
  EXPECT_EQ(read.offset, packing.offset);
  EXPECT_EQ(read.unit, packing.unit);
  EXPECT_EQ(read.nodata, packing.nodata);
  return array;
}

Packing with_nodata(std::optional<Element> nodata) {
  Packing packing;
  packing.nodata = std::move(nodata);
  return packing;
}

constexpr bool kIsNew = true;
constexpr bool kIsNotNew = false;

TEST(WritePacking, ScaleOffsetAndUnit) {
  Packing packing;
  packing.scale = 0.01;
  packing.offset = 273.15;
  packing.unit = "K";
  const auto array = written(v3_array(kInt16), packing, kIsNotNew);
  EXPECT_EQ(array.attributes,
            Json::parse(R"({"scale_factor": 0.01, "add_offset": 273.15, "units": "K"})"));
  EXPECT_TRUE(write_packing(array, packing, kIsNotNew).attributes.empty());
  EXPECT_TRUE(written(array, {}, kIsNotNew).attributes.empty());
  for (const double number : {kNan, kInfinity}) {
    packing.scale = number;
    EXPECT_THROW(write_packing(array, packing, kIsNotNew), zarrcore::Error);
  }
}

TEST(WritePacking, WhatSaysTheSameAlreadyIsLeftAsItIs) {
  const auto array =
      v2_array(kInt16, element<short>(-1), R"({"scale_factor": [0.5], "missing_value": -2})");
  const PackingChange change = write_packing(array, read_packing(array), kIsNotNew);
  EXPECT_TRUE(change.attributes.empty());
  EXPECT_FALSE(change.fill_value);
}

TEST(WritePacking, NodataOfANewArrayIsItsFillValue) {
  auto array = written(v2_array(kInt16), with_nodata(element<short>(-9999)), kIsNew);
  EXPECT_EQ(array.fill_value, element<short>(-9999));
  EXPECT_EQ(array.attributes["_FillValue"], -9999);
  array = written(v3_array(kInt16), with_nodata(element<short>(0)), kIsNew);
  EXPECT_EQ(array.fill_value, element<short>(0));
  EXPECT_EQ(array.attributes["_FillValue"], 0);
  // Zero would be nodata in v2.
  EXPECT_FALSE(written(v2_array(kInt16, element<short>(0)), {}, kIsNew).fill_value);
  EXPECT_EQ(written(array, {}, kIsNew).attributes, Json::object());
  EXPECT_EQ(written(v3_array(kInt16, element<short>(5)), {}, kIsNew).fill_value, element<short>(0));
}

TEST(WritePacking, AbsentChunksKeepWhatTheyHold) {
  for (const auto& fill_value : {std::optional(element<short>(7)), std::optional<Element>()}) {
    const auto array = written(v2_array(kInt16, fill_value, R"({"missing_value": 3})"),
                               with_nodata(element<short>(-1)), kIsNotNew);
    EXPECT_EQ(array.fill_value, fill_value);
    EXPECT_EQ(array.attributes, Json::parse(R"({"_FillValue": -1})"));
  }
}

TEST(WritePacking, NodataIsRemoved) {
  constexpr const char* kBoth = R"({"_FillValue": -1, "missing_value": -1})";
  // Nothing but attributes said it.
  for (const ArrayMetadata& array :
       {v2_array(kInt16, {}, kBoth), v3_array(kInt16, element<short>(0), kBoth)}) {
    const PackingChange change = write_packing(array, {}, kIsNotNew);
    EXPECT_FALSE(change.fill_value);
    EXPECT_TRUE(written(array, {}, kIsNotNew).attributes.empty());
  }
  // The fill value would count instead.
  EXPECT_EQ(written(v2_array(kInt16, element<short>(0), kBoth), {}, kIsNotNew).fill_value,
            std::nullopt);
  EXPECT_EQ(written(v2_array(kInt16, element<short>(-1)), {}, kIsNotNew).fill_value, std::nullopt);
  EXPECT_EQ(written(v3_array(kInt16, element<short>(-1), kBoth), {}, kIsNotNew).fill_value,
            element<short>(0));
}

TEST(WritePacking, FloatsAreSpelledAsXarrayDoes) {
  struct {
    double value;
    Json v2;
    const char* v3;
  } const cases[] = {{-1000, -1000.0, "AAAAAABAj8A="},
                     {kNan, "NaN", "AAAAAAAA+H8="},
                     {kInfinity, "Infinity", "AAAAAAAA8H8="},
                     {-kInfinity, "-Infinity", "AAAAAAAA8P8="}};
  for (const auto& [value, v2, v3] : cases) {
    const Element narrow = element(static_cast<float>(value));
    const Element wide = element(value);
    const DataType float64{TypeKind::floating, 8};
    for (const bool is_new : {kIsNew, kIsNotNew}) {
      EXPECT_EQ(written(v2_array(kFloat32), with_nodata(narrow), is_new).attributes["_FillValue"],
                v2);
      EXPECT_EQ(written(v3_array(kFloat32), with_nodata(narrow), is_new).attributes["_FillValue"],
                v3);
      EXPECT_EQ(written(v2_array(float64), with_nodata(wide), is_new).attributes["_FillValue"], v2);
      EXPECT_EQ(written(v3_array(float64), with_nodata(wide), is_new).attributes["_FillValue"], v3);
    }
  }
  const DataType float16{TypeKind::floating, 2};
  const Element one = element<std::uint16_t>(0x3c00);
  EXPECT_EQ(written(v3_array(float16), with_nodata(one), kIsNew).attributes["_FillValue"],
            "AAAAAAAA8D8=");
}

TEST(WritePacking, OtherNumbersKeepAllDigits) {
  const DataType int64{TypeKind::signed_integer, 8};
  const DataType uint64{TypeKind::unsigned_integer, 8};
  const DataType boolean{TypeKind::boolean, 1};
  const auto lowest = with_nodata(element(INT64_MIN));
  EXPECT_EQ(written(v3_array(int64), lowest, kIsNew).attributes["_FillValue"], INT64_MIN);
  const auto highest = with_nodata(element(UINT64_MAX));
  EXPECT_EQ(written(v2_array(uint64), highest, kIsNew).attributes["_FillValue"], UINT64_MAX);
  EXPECT_EQ(written(v3_array(boolean), with_nodata(element(true)), kIsNew).attributes["_FillValue"],
            true);
}

TEST(WritePacking, ComplexNumbersAreOneValue) {
  const DataType complex64{TypeKind::complex, 8};
  const auto real = with_nodata(element(std::complex<float>(-1000, 0)));
  const auto both = with_nodata(element(std::complex<float>(-1000, 1)));
  EXPECT_EQ(written(v2_array(complex64), real, kIsNotNew).attributes["_FillValue"], -1000.0);
  EXPECT_EQ(written(v2_array(complex64), both, kIsNotNew).attributes["_FillValue"],
            Json({-1000.0, 1.0}));
  EXPECT_EQ(written(v3_array(complex64), real, kIsNotNew).attributes["_FillValue"],
            Json({"AAAAAABAj8A=", "AAAAAAAAAAA="}));
}

TEST(WritePacking, TimesHaveUnitsAndNodataInTheirType) {
  DataType time{TypeKind::datetime, 8};
  time.time_unit = {"s", 1};
  Packing packing = with_nodata(element(INT64_MIN));
  packing.unit = time_units(time);
  EXPECT_TRUE(written(v3_array(time), packing, kIsNew).attributes.empty());
  // Where only the attribute can say it, it does.
  packing.nodata = element<std::int64_t>(0);
  EXPECT_EQ(written(v3_array(time), packing, kIsNew).attributes,
            Json::parse(R"({"_FillValue": 0})"));
  packing.nodata = element(INT64_MIN);
  EXPECT_EQ(written(v2_array(time), packing, kIsNotNew).attributes["_FillValue"], "NaT");
}

TEST(WritePacking, NodataHasTheSizeOfTheType) {
  const auto text = v3_array({TypeKind::fixed_bytes, 4});
  const Element nodata(4, std::byte{'a'});
  EXPECT_TRUE(write_packing(text, with_nodata(nodata), kIsNew).fill_value);
  EXPECT_THROW(write_packing(text, with_nodata(Element(3)), kIsNew), zarrcore::Error);
  EXPECT_THROW(write_packing(v3_array(kInt16), with_nodata(Element(4)), kIsNew), zarrcore::Error);
}

}  // namespace
}  // namespace gdal_zarr::test::packing_write_test
