#include "driver/types/type_mapping.h"

#include <cpl_conv.h>

#include <algorithm>
#include <utility>

#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

using zarrcore::DataType;
using zarrcore::TypeKind;

// The fields of complex integers, for which Zarr has no type.
constexpr const char* kRealField = "real";
constexpr const char* kImaginaryField = "imag";

struct NumberType {
  GDALDataType seen;
  TypeKind kind;
  std::uint64_t size;  // bytes
};

// Where versions of GDAL lack a type, the next wider one comes first: it is stored as itself.
constexpr NumberType kNumberTypes[] = {
    {GDT_Byte, TypeKind::unsigned_integer, 1},   {GDT_UInt16, TypeKind::unsigned_integer, 2},
    {GDT_UInt32, TypeKind::unsigned_integer, 4}, {GDT_UInt64, TypeKind::unsigned_integer, 8},
    {GDT_Int16, TypeKind::signed_integer, 2},    {GDT_Int32, TypeKind::signed_integer, 4},
    {GDT_Int64, TypeKind::signed_integer, 8},    {kInt8, TypeKind::signed_integer, 1},
    {GDT_Float32, TypeKind::floating, 4},        {GDT_Float64, TypeKind::floating, 8},
    {kFloat16, TypeKind::floating, 2},           {GDT_CFloat32, TypeKind::complex, 8},
    {GDT_CFloat64, TypeKind::complex, 16},       {kCFloat16, TypeKind::complex, 4},
};

GDALDataType number_type(TypeKind kind, std::uint64_t size) {
  for (const NumberType& type : kNumberTypes) {
    if (type.kind == kind && type.size == size) return type.seen;
  }
  return GDT_Unknown;
}

// GDT_Unknown unless a structure is a complex number of two integers.
GDALDataType complex_integer_type(const std::vector<zarrcore::Field>& fields) {
  const auto is_part = [&](std::size_t i, const char* name) {
    const zarrcore::Field& part = fields[i];
    return part.name == name && part.shape.empty() && part.offset == i * part.type.item_size &&
           part.type.kind == TypeKind::signed_integer && part.type.bits == 0;
  };
  const bool is_complex = fields.size() == 2 && is_part(0, kRealField) &&
                          is_part(1, kImaginaryField) && fields[0].type == fields[1].type;
  if (!is_complex) return GDT_Unknown;
  const std::uint64_t size = fields[0].type.item_size;
  return size == 2 ? GDT_CInt16 : size == 4 ? GDT_CInt32 : GDT_Unknown;
}

// GDT_Unknown for types that are not a number in GDAL.
GDALDataType numeric_type(const DataType& type) {
  const bool is_ieee = type.float_format == zarrcore::FloatFormat::ieee;
  switch (type.kind) {
    case TypeKind::structure:
      return complex_integer_type(*type.fields);
    case TypeKind::boolean:
      return GDT_Byte;
    case TypeKind::raw:
      return number_type(TypeKind::unsigned_integer, type.item_size);
    case TypeKind::floating:
      if (type.is_long_double()) return GDT_Float64;
      return is_ieee ? number_type(type.kind, type.item_size) : GDT_Float32;
    case TypeKind::complex:
      if (type.is_long_double()) return GDT_CFloat64;
      return is_ieee ? number_type(type.kind, type.item_size) : GDT_CFloat32;
    case TypeKind::datetime:
    case TypeKind::timedelta:
      return GDT_Int64;
    default:
      return number_type(type.kind, type.item_size);
  }
}

// Each component costs an object; more would be useless.
constexpr std::size_t kMaxComponents = 4096;

// The number of numbers and strings in an element, including nested structures.
std::uint64_t count_leaves(const DataType& type) {
  if (numeric_type(type) != GDT_Unknown || type.is_string()) return 1;
  if (type.kind != TypeKind::structure) return type.item_size;
  std::uint64_t leaves = 0;
  for (const zarrcore::Field& field : *type.fields) {
    // Neither factor passes the largest item size.
    if (!field.name.empty()) leaves += field.count * count_leaves(field.type);
  }
  return leaves;
}

// In bytes, as a C++ compiler aligns such a value.
std::size_t alignment_of(const GDALExtendedDataType& type) {
  if (type.GetClass() == GEDTC_STRING) return alignof(char*);
  if (type.GetClass() == GEDTC_NUMERIC) {
    return number_size(GDALGetNonComplexDataType(type.GetNumericDataType()));
  }
  std::size_t alignment = 1;
  for (const auto& component : type.GetComponents()) {
    alignment = std::max(alignment, alignment_of(component->GetType()));
  }
  return alignment;
}

std::size_t align(std::size_t offset, std::size_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

// netCDF needs a different name for each type, and Zarr has none: "structure_" and a hash (FNV-1a)
// of the fields.
std::string structure_name(const std::vector<std::unique_ptr<GDALEDTComponent>>& components) {
  std::uint32_t hash = 0x811c9dc5;
  const auto add = [&](const std::string& word) {
    for (const char c : word + ' ') hash = (hash ^ static_cast<unsigned char>(c)) * 0x01000193;
  };
  for (const auto& component : components) {
    const GDALExtendedDataType& type = component->GetType();
    add(component->GetName());
    add(type.GetClass() == GEDTC_NUMERIC ? GDALGetDataTypeName(type.GetNumericDataType())
                                         : type.GetName());
  }
  return CPLSPrintf("structure_%08x", hash);
}

GDALExtendedDataType compound_type(const DataType& type) {
  std::vector<std::unique_ptr<GDALEDTComponent>> components;
  std::size_t end = 0;
  std::size_t alignment = 1;
  for (const Component& component : components_of(type)) {
    components.push_back(
        std::make_unique<GDALEDTComponent>(component.name, component.offset, component.seen));
    end = component.offset + component.seen.GetSize();
    alignment = std::max(alignment, alignment_of(component.seen));
  }
  const std::string name = type.kind == TypeKind::raw ? "raw" : structure_name(components);
  return GDALExtendedDataType::Create(name, align(end, alignment), std::move(components));
}

}  // namespace

std::vector<Component> components_of(const DataType& type) {
  if (count_leaves(type) > kMaxComponents) {
    throw zarrcore::Error("elements of so many parts cannot be represented in GDAL");
  }
  std::vector<Component> components;
  std::size_t end = 0;
  const auto append = [&](std::string name, std::uint64_t stored_offset, const DataType& part) {
    const GDALExtendedDataType seen = gdal_type(part);
    const std::size_t offset = align(end, alignment_of(seen));
    components.push_back({std::move(name), stored_offset, offset, part, seen});
    end = offset + seen.GetSize();
  };
  if (type.kind == TypeKind::raw) {
    for (std::uint64_t i = 0; i < type.item_size; ++i) append("byte" + std::to_string(i), i, {});
    return components;
  }
  for (const zarrcore::Field& field : *type.fields) {
    if (field.name.empty()) continue;  // padding
    for (std::uint64_t i = 0; i < field.count; ++i) {
      append(field.shape.empty() ? field.name : field.name + '[' + std::to_string(i) + ']',
             field.offset + i * field.type.item_size, field.type);
    }
  }
  if (components.empty()) throw zarrcore::Error("a structure has no field with a name");
  return components;
}

std::optional<DataType> stored_number_type(GDALDataType type) {
  if (type == GDT_CInt16 || type == GDT_CInt32) {
    const DataType part{TypeKind::signed_integer, type == GDT_CInt16 ? 2u : 4u};
    return zarrcore::make_structure({{kRealField, part}, {kImaginaryField, part}});
  }
  for (const NumberType& number : kNumberTypes) {
    if (number.seen == type) return DataType{number.kind, number.size};
  }
  return std::nullopt;
}

GDALExtendedDataType gdal_type(const DataType& type) {
  if (type.is_string()) {
    // In bytes. UTF-8 needs no more than UTF-32.
    return GDALExtendedDataType::CreateString(type.is_variable() ? 0 : type.item_size);
  }
  const GDALDataType number = numeric_type(type);
  return number != GDT_Unknown ? GDALExtendedDataType::Create(number) : compound_type(type);
}

}  // namespace gdal_zarr
