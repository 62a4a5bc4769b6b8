#include <cpl_conv.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "autotest/driver/cpp/options.h"
#include "driver/types/type_mapping.h"
#include "zarrcore/base/buffer.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr::test::element_encoder_test {
namespace {

using test::error_of;
using zarrcore::DataType;
using zarrcore::FloatFormat;
using zarrcore::TypeKind;
using zarrcore::VariableElement;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

GDALExtendedDataType number(GDALDataType type) {
  return GDALExtendedDataType::Create(type);
}

// A compound of components one after the other.
GDALExtendedDataType compound(
    const std::vector<std::pair<std::string, GDALExtendedDataType>>& members) {
  std::vector<std::unique_ptr<GDALEDTComponent>> components;
  std::size_t size = 0;
  for (const auto& [name, type] : members) {
    components.push_back(std::make_unique<GDALEDTComponent>(name, size, type));
    size += type.GetSize();
  }
  return GDALExtendedDataType::Create("", size, std::move(components));
}

// The elements that `values` of `buffer_type` become, one after the other.
template <typename Element, typename Value>
std::vector<Element> encode(const std::vector<Value>& values,
                            const GDALExtendedDataType& buffer_type, const DataType& type) {
  EXPECT_EQ(buffer_type.GetSize(), sizeof(Value));
  EXPECT_EQ(type.item_size, sizeof(Element));
  const auto encoder = make_element_encoder(buffer_type, type);
  if (!encoder) throw zarrcore::Error("the elements are the same");
  std::vector<Element> elements(values.size());
  encoder->convert(reinterpret_cast<const std::byte*>(values.data()), sizeof(Value),
                   reinterpret_cast<std::byte*>(elements.data()), sizeof(Element), values.size());
  return elements;
}

// Fixed strings have no C++ type: the bytes of one element.
std::string encode_text(const char* text, const DataType& type) {
  const auto encoder = make_element_encoder(GDALExtendedDataType::CreateString(), type);
  std::string element(type.item_size, '?');
  encoder->convert(reinterpret_cast<const std::byte*>(&text), sizeof(text),
                   reinterpret_cast<std::byte*>(element.data()), 0, 1);
  return element;
}

TEST(ElementEncoder, NothingToDoForTheSameBytes) {
  EXPECT_FALSE(make_element_encoder(number(GDT_Int16), {TypeKind::signed_integer, 2}));
  EXPECT_FALSE(make_element_encoder(number(GDT_Float64), {TypeKind::floating, 8}));
  EXPECT_FALSE(make_element_encoder(number(GDT_CFloat32), {TypeKind::complex, 8}));
  EXPECT_FALSE(make_element_encoder(number(GDT_UInt32), {TypeKind::raw, 4}));
  EXPECT_FALSE(make_element_encoder(number(GDT_Int64), {TypeKind::datetime, 8}));
  const DataType raw{TypeKind::raw, 3};
  EXPECT_FALSE(make_element_encoder(gdal_type(raw), raw));
  const DataType pair = zarrcore::make_structure(
      {{"a", {TypeKind::signed_integer, 4}}, {"b", {TypeKind::floating, 4}, 0, 2, {2}}});
  EXPECT_FALSE(make_element_encoder(gdal_type(pair), pair));
}

TEST(ElementEncoder, NumbersAreRoundedAndClampedAsByGdal) {
  const std::vector<double> values{0.0, 0.5, -1.5, 200.4, 1e30, -1e30, kNan};
  EXPECT_EQ(encode<std::uint8_t>(values, number(GDT_Float64), {TypeKind::unsigned_integer, 1}),
            (std::vector<std::uint8_t>{0, 1, 0, 200, 255, 0, 0}));
  EXPECT_EQ(encode<std::int8_t>(values, number(GDT_Float64), {TypeKind::signed_integer, 1}),
            (std::vector<std::int8_t>{0, 1, -2, 127, 127, -128, 0}));
  EXPECT_EQ(encode<std::int16_t>(std::vector<std::uint32_t>{7, 70000}, number(GDT_UInt32),
                                 {TypeKind::signed_integer, 2}),
            (std::vector<std::int16_t>{7, 32767}));
  EXPECT_EQ(
      encode<float>(std::vector<std::int32_t>{-3}, number(GDT_Int32), {TypeKind::floating, 4}),
      (std::vector<float>{-3.0F}));
  EXPECT_EQ(encode<std::uint64_t>(std::vector<std::int64_t>{-1, INT64_MAX}, number(GDT_Int64),
                                  {TypeKind::unsigned_integer, 8}),
            (std::vector<std::uint64_t>{0, INT64_MAX}));
}

TEST(ElementEncoder, NarrowIntegersStayInTheirRange) {
  EXPECT_EQ(encode<std::int8_t>(std::vector<std::int16_t>{-9, -8, 7, 8, 300}, number(GDT_Int16),
                                {TypeKind::signed_integer, 1, 4}),
            (std::vector<std::int8_t>{-8, -8, 7, 7, 7}));
  EXPECT_EQ(encode<std::uint8_t>(std::vector<std::uint8_t>{0, 3, 4, 255}, number(GDT_Byte),
                                 {TypeKind::unsigned_integer, 1, 2}),
            (std::vector<std::uint8_t>{0, 3, 3, 3}));
}

TEST(ElementEncoder, AllButZeroIsTrue) {
  const DataType boolean{TypeKind::boolean, 1};
  EXPECT_EQ(
      encode<std::uint8_t>(std::vector<std::uint8_t>{0, 1, 2, 255}, number(GDT_Byte), boolean),
      (std::vector<std::uint8_t>{0, 1, 1, 1}));
  EXPECT_EQ(encode<std::uint8_t>(std::vector<float>{0, 1, 300}, number(GDT_Float32), boolean),
            (std::vector<std::uint8_t>{0, 1, 1}));
}

TEST(ElementEncoder, SmallFloatsAreRoundedOnce) {
  const DataType half{TypeKind::floating, 2};
  // Half a unit of the last place above 1, and a bit that a float32 in between would lose.
  const double above_tie = 1.0 + 0x1p-11 + 0x1p-40;
  EXPECT_EQ(encode<std::uint16_t>(std::vector<double>{1.0, above_tie, -kInfinity, 1e6},
                                  number(GDT_Float64), half),
            (std::vector<std::uint16_t>{0x3c00, 0x3c01, 0xfc00, 0x7c00}));
  EXPECT_EQ(encode<std::uint16_t>(std::vector<std::int16_t>{-2}, number(GDT_Int16), half),
            (std::vector<std::uint16_t>{0xc000}));
  EXPECT_EQ(encode<std::uint16_t>(std::vector<float>{1.5F}, number(GDT_Float32),
                                  {TypeKind::floating, 2, 0, FloatFormat::bfloat16}),
            (std::vector<std::uint16_t>{0x3fc0}));
  EXPECT_EQ(encode<std::uint8_t>(std::vector<double>{1.0, 1e9}, number(GDT_Float64),
                                 {TypeKind::floating, 1, 0, FloatFormat::float8_e5m2}),
            (std::vector<std::uint8_t>{0x3c, 0x7c}));
}

TEST(ElementEncoder, ComplexNumbers) {
  using Complex64 = std::complex<float>;
  using Complex128 = std::complex<double>;
  const DataType complex64{TypeKind::complex, 8};
  EXPECT_EQ(encode<Complex64>(std::vector<Complex128>{{1.5, -2}}, number(GDT_CFloat64), complex64),
            (std::vector<Complex64>{{1.5F, -2.0F}}));
  EXPECT_EQ(encode<Complex64>(std::vector<std::int16_t>{4}, number(GDT_Int16), complex64),
            (std::vector<Complex64>{{4.0F, 0.0F}}));
  const std::vector<Complex128> rounded{{1.0 + 0x1p-11 + 0x1p-40, -2}};
  using Parts = std::array<std::uint16_t, 2>;
  EXPECT_EQ(encode<Parts>(rounded, number(GDT_CFloat64), {TypeKind::complex, 4}),
            (std::vector<Parts>{{0x3c01, 0xc000}}));
  EXPECT_EQ(encode<Parts>(rounded, number(GDT_CFloat64),
                          {TypeKind::complex, 4, 0, FloatFormat::bfloat16}),
            (std::vector<Parts>{{0x3f80, 0xc000}}));
  EXPECT_EQ(encode<float>(std::vector<Complex128>{{1.5, -2}}, number(GDT_CFloat64),
                          {TypeKind::floating, 4}),
            (std::vector<float>{1.5F}));
}

TEST(ElementEncoder, TimesAreCounts) {
  DataType time{TypeKind::datetime, 8};
  time.time_unit = {"ns", 1};
  EXPECT_EQ(encode<std::int64_t>(std::vector<double>{86400.0}, number(GDT_Float64), time),
            (std::vector<std::int64_t>{86400}));
}

TEST(ElementEncoder, StringsOfAnyLengthPointToTheCallers) {
  const DataType string{TypeKind::variable_string, sizeof(VariableElement)};
  const std::vector<const char*> texts{"größer", "", nullptr};
  const auto elements =
      encode<VariableElement>(texts, GDALExtendedDataType::CreateString(), string);
  EXPECT_EQ(elements[0].data, texts[0]);
  EXPECT_EQ(elements[0].text(), "größer");
  EXPECT_EQ(elements[1].size, 0);
  EXPECT_EQ(elements[2].size, 0);
  const std::vector<const char*> latin1{"gr\xf6\xdf"};
  EXPECT_EQ(error_of([&] {
              encode<VariableElement>(latin1, GDALExtendedDataType::CreateString(), string);
            }),
            "a text to be written is not UTF-8");
  // Where bytes are stored, any will do.
  const DataType bytes{TypeKind::variable_bytes, sizeof(VariableElement)};
  EXPECT_EQ(encode<VariableElement>(latin1, GDALExtendedDataType::CreateString(), bytes)[0].text(),
            latin1[0]);
}

TEST(ElementEncoder, ByteStringsArePaddedAndNeverCut) {
  const DataType bytes{TypeKind::fixed_bytes, 4};
  EXPECT_EQ(encode_text("ab", bytes), std::string("ab\0\0", 4));
  EXPECT_EQ(encode_text("abcd", bytes), "abcd");
  EXPECT_EQ(encode_text(nullptr, bytes), std::string(4, '\0'));
  EXPECT_EQ(error_of([&] { encode_text("abcde", bytes); }),
            "a text of 5 bytes is longer than the 4 that an element holds");
}

TEST(ElementEncoder, CharactersOfFourBytesArePaddedAndNeverCut) {
  const DataType characters{TypeKind::fixed_utf32, 8};
  const std::string element = encode_text("ö\U0001f600", characters);
  std::uint32_t code_points[2];
  std::memcpy(code_points, element.data(), sizeof(code_points));
  EXPECT_EQ(code_points[0], 0xf6U);
  EXPECT_EQ(code_points[1], 0x1f600U);
  EXPECT_EQ(encode_text("", characters), std::string(8, '\0'));
  EXPECT_EQ(error_of([&] { encode_text("größer", characters); }),
            "a text of 6 characters is longer than the 2 that an element holds");
  EXPECT_EQ(error_of([&] { encode_text("\xff", characters); }),
            "a text to be written is not UTF-8");
}

TEST(ElementEncoder, NumbersBecomeTheirText) {
  const DataType string{TypeKind::variable_string, sizeof(VariableElement)};
  const auto encoder = make_element_encoder(number(GDT_Int32), string);
  // Several threads may use one encoder; the texts stay as long as it.
  std::vector<std::int32_t> values(1000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i) - 500;
  std::vector<VariableElement> elements(values.size());
  std::vector<std::thread> threads;
  for (std::size_t first = 0; first < values.size(); first += 500) {
    threads.emplace_back([&, first] {
      encoder->convert(reinterpret_cast<const std::byte*>(&values[first]), sizeof(values[0]),
                       reinterpret_cast<std::byte*>(&elements[first]), sizeof(elements[0]), 500);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(elements[i].text(), std::to_string(values[i]));
  }
  EXPECT_EQ((encode<std::uint32_t>(std::vector<std::uint8_t>{7}, number(GDT_Byte),
                                   {TypeKind::fixed_bytes, 4})),
            (std::vector<std::uint32_t>{'7'}));
}

// { pad: 2 bytes, text: "S3", pair: uint8[2], inner: { half } }
DataType structure() {
  const DataType inner = zarrcore::make_structure({{"half", {TypeKind::floating, 2}}});
  return zarrcore::make_structure({{"", {TypeKind::raw, 2}},
                                   {"text", {TypeKind::fixed_bytes, 3}},
                                   {"pair", {TypeKind::unsigned_integer, 1}, 0, 2, {2}},
                                   {"inner", inner}});
}

TEST(ElementEncoder, StructuresOfTheirComponentsByName) {
  struct Given {
    double second;
    float half;
    std::int32_t first;
    const char* text;
  };
  const GDALExtendedDataType buffer_type =
      compound({{"pair[1]", number(GDT_Float64)},
                {"inner", compound({{"half", number(GDT_Float32)}})},
                {"pair[0]", number(GDT_Int32)},
                {"text", GDALExtendedDataType::CreateString()}});
  const std::vector<Given> given{{2.4, 1.0F, 1000, "ab"}, {5, -2.0F, 3, nullptr}};
  const auto encoder = make_element_encoder(buffer_type, structure());
  std::string elements(18, '?');
  encoder->convert(reinterpret_cast<const std::byte*>(given.data()), sizeof(Given),
                   reinterpret_cast<std::byte*>(elements.data()), 9, 2);
  EXPECT_EQ(elements, std::string("\0\0ab\0\xff\x02\x00\x3c"
                                  "\0\0\0\0\0\x03\x05\x00\xc0",
                                  18));
}

TEST(ElementEncoder, WhatWasReadIsWrittenBack) {
  const DataType type = structure();
  const GDALExtendedDataType seen = gdal_type(type);
  const std::string elements("\0\0abc\x01\x02\x00\x3c\0\0\0\0\0\x03\x05\x00\xc0", 18);
  std::vector<std::byte> buffer(2 * seen.GetSize());
  const auto size = static_cast<std::ptrdiff_t>(seen.GetSize());
  make_converter(type, seen)
      ->convert(reinterpret_cast<const std::byte*>(elements.data()), 9, buffer.data(), size, 2);
  std::string back(18, '?');
  make_element_encoder(seen, type)
      ->convert(buffer.data(), size, reinterpret_cast<std::byte*>(back.data()), 9, 2);
  EXPECT_EQ(back, elements);
  seen.FreeDynamicMemory(buffer.data());
  seen.FreeDynamicMemory(buffer.data() + size);
}

TEST(ElementEncoder, RawBytesOfACompoundOfBytes) {
  const GDALExtendedDataType wide = compound(
      {{"byte0", number(GDT_Int16)}, {"byte1", number(GDT_Int16)}, {"byte2", number(GDT_Int16)}});
  const std::int16_t given[] = {1, 300, -1};
  const auto encoder = make_element_encoder(wide, {TypeKind::raw, 3});
  std::uint8_t element[3];
  encoder->convert(reinterpret_cast<const std::byte*>(given), 0,
                   reinterpret_cast<std::byte*>(element), 0, 1);
  EXPECT_EQ(std::vector<std::uint8_t>(element, element + 3),
            (std::vector<std::uint8_t>{1, 255, 0}));
}

TEST(ElementEncoder, RefusesWhatGdalCannotConvert) {
  EXPECT_EQ(error_of([] {
              make_element_encoder(GDALExtendedDataType::CreateString(),
                                   {TypeKind::signed_integer, 4});
            }),
            "the type of the buffer cannot be converted to elements of type int32");
  EXPECT_THROW(make_element_encoder(number(GDT_Byte), structure()), zarrcore::Error);
  // A structure is written as a whole.
  EXPECT_THROW(
      make_element_encoder(compound({{"text", GDALExtendedDataType::CreateString()}}), structure()),
      zarrcore::Error);
}

TEST(ElementEncoder, TakesAnyStrides) {
  const std::int16_t given[] = {1, 2, 3, 4};
  const auto encoder = make_element_encoder(number(GDT_Int16), {TypeKind::signed_integer, 1});
  std::int8_t elements[] = {0, 0, 0, 0};
  // Every second number, backwards; then one for all.
  encoder->convert(reinterpret_cast<const std::byte*>(given + 3), -4,
                   reinterpret_cast<std::byte*>(elements), 1, 2);
  encoder->convert(reinterpret_cast<const std::byte*>(given), 0,
                   reinterpret_cast<std::byte*>(elements + 2), 1, 2);
  EXPECT_EQ(std::vector<std::int8_t>(elements, elements + 4),
            (std::vector<std::int8_t>{4, 2, 1, 1}));
}

}  // namespace
}  // namespace gdal_zarr::test::element_encoder_test
