#include "driver/types/type_mapping.h"

#include <cpl_conv.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "zarrcore/base/error.h"

namespace gdal_zarr::test::type_mapping_test {
namespace {

using zarrcore::DataType;
using zarrcore::TypeKind;

TEST(TypeMapping, NumbersThatAreWidenedBecomeTextToo) {
  const std::vector<std::uint16_t> halves{0x3e00, 0xc000};  // 1.5 and -2
  const auto converter =
      make_converter({TypeKind::floating, 2}, GDALExtendedDataType::CreateString());
  char* texts[2] = {};
  converter->convert(reinterpret_cast<const std::byte*>(halves.data()), 2,
                     reinterpret_cast<std::byte*>(texts), sizeof(char*), 2);
  EXPECT_STREQ(texts[0], "1.5");
  EXPECT_STREQ(texts[1], "-2");
  CPLFree(texts[0]);
  CPLFree(texts[1]);
}

TEST(TypeMapping, TextsAreNoNumbers) {
  EXPECT_THROW(
      make_converter({TypeKind::fixed_bytes, 4}, GDALExtendedDataType::Create(GDT_Float64)),
      zarrcore::Error);
}

// Offsets of the components, and the size at the end.
std::vector<std::size_t> layout(const GDALExtendedDataType& type) {
  std::vector<std::size_t> layout;
  for (const auto& component : type.GetComponents()) layout.push_back(component->GetOffset());
  layout.push_back(type.GetSize());
  return layout;
}

TEST(TypeMapping, StructuresAreLaidOutAsInC) {
  const DataType byte{TypeKind::unsigned_integer, 1};
  const DataType uint16{TypeKind::unsigned_integer, 2};
  const DataType inner = zarrcore::make_structure({{"a", uint16}, {"b", byte}, {"c", uint16}});
  EXPECT_EQ(layout(gdal_type(inner)), (std::vector<std::size_t>{0, 2, 4, 6}));
  EXPECT_EQ(layout(gdal_type(zarrcore::make_structure({{"a", byte}, {"inner", inner}}))),
            (std::vector<std::size_t>{0, 2, 8}));
  EXPECT_EQ(layout(gdal_type(zarrcore::make_structure({{"number", {TypeKind::complex, 16}},
                                                       {"a", byte},
                                                       {"text", {TypeKind::fixed_bytes, 3}},
                                                       {"half", {TypeKind::complex, 8}},
                                                       {"b", byte}}))),
            (std::vector<std::size_t>{0, 16, 24, 32, 40, 48}));
  EXPECT_EQ(layout(gdal_type({TypeKind::raw, 3})), (std::vector<std::size_t>{0, 1, 2, 3}));
}

TEST(TypeMapping, StructuresLeaveOutPaddingOfTheStore) {
  const DataType type =
      zarrcore::make_structure({{"a", {TypeKind::boolean, 1}},
                                {"", {TypeKind::raw, 3}},
                                {"b", {TypeKind::unsigned_integer, 2}, 0, 2, {2}}});
  const GDALExtendedDataType seen = gdal_type(type);
  EXPECT_EQ(layout(seen), (std::vector<std::size_t>{0, 2, 4, 6}));
  std::vector<std::string> names;
  for (const Component& component : components_of(type)) names.push_back(component.name);
  EXPECT_EQ(names, (std::vector<std::string>{"a", "b[0]", "b[1]"}));
  const std::string elements("\1???\1\0\2\0\0???\3\0\4\0", 16);
  std::string buffer(12, '?');
  make_converter(type, seen)
      ->convert(reinterpret_cast<const std::byte*>(elements.data()), 8,
                reinterpret_cast<std::byte*>(buffer.data()), 6, 2);
  EXPECT_EQ(buffer, std::string("\1?\1\0\2\0\0?\3\0\4\0", 12));
}

TEST(TypeMapping, ACompoundMayTakeSomeComponentsInItsOwnOrder) {
  const DataType type = zarrcore::make_structure({{"a", {TypeKind::unsigned_integer, 2}},
                                                  {"b", {TypeKind::fixed_bytes, 2}},
                                                  {"c", {TypeKind::unsigned_integer, 1}}});
  std::vector<std::unique_ptr<GDALEDTComponent>> components;
  components.push_back(
      std::make_unique<GDALEDTComponent>("c", 0, GDALExtendedDataType::Create(GDT_Float32)));
  components.push_back(
      std::make_unique<GDALEDTComponent>("b", 8, GDALExtendedDataType::CreateString()));
  struct Taken {
    float c = 0;
    std::uint32_t gap = 42;
    char* b = nullptr;
  } taken;
  const auto converter =
      make_converter(type, GDALExtendedDataType::Create("", sizeof(Taken), std::move(components)));
  converter->convert(reinterpret_cast<const std::byte*>("\1\1xy\7"), 0,
                     reinterpret_cast<std::byte*>(&taken), 0, 1);
  EXPECT_EQ(taken.c, 7.0F);
  EXPECT_EQ(taken.gap, 42U);
  EXPECT_STREQ(taken.b, "xy");
  CPLFree(taken.b);
}

}  // namespace
}  // namespace gdal_zarr::test::type_mapping_test
