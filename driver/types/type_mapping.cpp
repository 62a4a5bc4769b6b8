#include "driver/types/type_mapping.h"

#include <cpl_conv.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "zarrcore/base/buffer.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/text_encoding.h"
#include "zarrcore/dtype/convert.h"
#include "zarrcore/dtype/element_converter.h"

namespace gdal_zarr {
namespace {

using zarrcore::DataType;
using zarrcore::ElementConverter;
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

// The core's type for GDAL's numbers, if they are wider than the stored ones.
std::optional<DataType> widened_type(const DataType& type) {
  const GDALDataType seen = numeric_type(type);
  if (seen == GDT_Unknown || !type.is_numeric() || number_size(seen) == type.item_size) {
    return std::nullopt;
  }
  return DataType{type.kind, number_size(seen)};
}

// Each component costs an object; more would be useless.
constexpr std::size_t kMaxComponents = 4096;

std::string string_value(const std::byte* element, const DataType& type) {
  std::string text;
  if (type.is_variable()) {
    zarrcore::VariableElement variable;
    std::memcpy(&variable, element, sizeof(variable));
    text = variable.text();
  } else if (type.kind == TypeKind::fixed_bytes) {
    text.assign(reinterpret_cast<const char*>(element), type.item_size);
  } else {
    text = zarrcore::with_context("an element",
                                  [&] { return zarrcore::encode_utf8({element, type.item_size}); });
  }
  // Trailing zeros of a string of fixed length are padding.
  if (!type.is_variable()) text.erase(text.find_last_not_of('\0') + 1);
  if (text.find('\0') != std::string::npos) {
    throw zarrcore::Error("an element contains a zero byte, which a GDAL string cannot");
  }
  return text;
}

std::unique_ptr<const ElementConverter> make_string_converter(const DataType& type) {
  return zarrcore::make_element_converter([type](const std::byte* from, std::byte* to) {
    char* text = CPLStrdup(string_value(from, type).c_str());
    std::memcpy(to, &text, sizeof(text));
  });
}

// Formats GDAL's numbers as strings.
std::unique_ptr<const ElementConverter> make_number_formatter(const GDALExtendedDataType& number) {
  return zarrcore::make_element_converter([number, string = GDALExtendedDataType::CreateString()](
                                              const std::byte* from, std::byte* to) {
    GDALExtendedDataType::CopyValue(from, number, to, string);
  });
}

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

std::unique_ptr<const ElementConverter> make_compound_converter(
    const DataType& type, const GDALExtendedDataType& buffer_type) {
  const std::vector<Component> components = components_of(type);
  const auto name_of = [](const Component& component) { return component.name; };
  std::vector<StructurePart> parts;
  for (const auto& wanted : buffer_type.GetComponents()) {
    const Component* component = find_named(components, parts.size(), wanted->GetName(), name_of);
    parts.push_back({component->stored_offset, wanted->GetOffset(), wanted->GetType().GetSize(),
                     make_converter(component->type, wanted->GetType())});
  }
  return make_structure_converter(std::move(parts), type.item_size, buffer_type.GetSize(), false);
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

std::unique_ptr<const ElementConverter> make_converter(const DataType& type,
                                                       const GDALExtendedDataType& buffer_type) {
  const GDALExtendedDataType seen = gdal_type(type);
  // Texts are not converted to numbers, although some versions of GDAL can.
  const bool is_to_text = buffer_type.GetClass() == GEDTC_STRING;
  if (!seen.CanConvertTo(buffer_type) || (type.is_string() && !is_to_text)) {
    throw zarrcore::Error("elements of type " + zarrcore::type_name(type) +
                          " cannot be converted to the type of the buffer");
  }
  if (type.is_string()) return make_string_converter(type);
  if (seen.GetClass() == GEDTC_COMPOUND) return make_compound_converter(type, buffer_type);
  std::unique_ptr<const ElementConverter> widen;
  if (const auto wide = widened_type(type)) widen = zarrcore::make_numeric_converter(type, *wide);
  const GDALDataType number = seen.GetNumericDataType();
  if (is_to_text) {
    return zarrcore::chain_converters(std::move(widen), number_size(number),
                                      make_number_formatter(seen));
  }
  return zarrcore::chain_converters(
      std::move(widen), number_size(number),
      make_number_converter(number, buffer_type.GetNumericDataType()));
}

namespace {

class NumberConverter final : public zarrcore::ElementConverter {
 public:
  NumberConverter(GDALDataType source, GDALDataType destination)
      : source_(source), destination_(destination) {}

  void convert(const std::byte* source, std::ptrdiff_t source_stride, std::byte* destination,
               std::ptrdiff_t destination_stride, std::size_t count) const override {
    // GDAL takes strides as int.
    if (fits_int(source_stride) && fits_int(destination_stride)) {
      GDALCopyWords64(source, source_, static_cast<int>(source_stride), destination, destination_,
                      static_cast<int>(destination_stride), static_cast<GPtrDiff_t>(count));
      return;
    }
    for (std::size_t i = 0; i < count; ++i) {
      GDALCopyWords64(source, source_, 0, destination, destination_, 0, 1);
      source += source_stride;
      destination += destination_stride;
    }
  }

 private:
  static bool fits_int(std::ptrdiff_t stride) {
    return stride >= std::numeric_limits<int>::min() && stride <= std::numeric_limits<int>::max();
  }

  GDALDataType source_;
  GDALDataType destination_;
};

class StructureConverter final : public zarrcore::ElementConverter {
 public:
  StructureConverter(std::vector<StructurePart> parts, std::size_t cleared_size)
      : parts_(std::move(parts)), cleared_size_(cleared_size) {}

  void convert(const std::byte* source, std::ptrdiff_t source_stride, std::byte* destination,
               std::ptrdiff_t destination_stride, std::size_t count) const override {
    for (std::size_t done = 0; done < count; done += kBatch) {
      const std::size_t now = std::min(kBatch, count - done);
      convert_batch(source, source_stride, destination, destination_stride, now);
      source += static_cast<std::ptrdiff_t>(now) * source_stride;
      destination += static_cast<std::ptrdiff_t>(now) * destination_stride;
    }
  }

 private:
  // Few enough elements to stay in the cache while all parts are converted.
  static constexpr std::size_t kBatch = 256;

  void convert_batch(const std::byte* source, std::ptrdiff_t source_stride, std::byte* destination,
                     std::ptrdiff_t destination_stride, std::size_t count) const {
    if (cleared_size_ != 0) {
      for (std::size_t i = 0; i < count; ++i) {
        std::memset(destination + static_cast<std::ptrdiff_t>(i) * destination_stride, 0,
                    cleared_size_);
      }
    }
    for (const StructurePart& part : parts_) {
      const std::byte* from = source + part.source_offset;
      std::byte* to = destination + part.destination_offset;
      if (part.converter) {
        part.converter->convert(from, source_stride, to, destination_stride, count);
        continue;
      }
      for (std::size_t i = 0; i < count; ++i) {
        std::memcpy(to, from, part.destination_size);
        from += source_stride;
        to += destination_stride;
      }
    }
  }

  std::vector<StructurePart> parts_;
  std::size_t cleared_size_;
};

}  // namespace

std::unique_ptr<const zarrcore::ElementConverter> make_number_converter(GDALDataType source,
                                                                        GDALDataType destination) {
  if (source == destination) return nullptr;
  return std::make_unique<NumberConverter>(source, destination);
}

std::unique_ptr<const zarrcore::ElementConverter> make_structure_converter(
    std::vector<StructurePart> parts, std::size_t source_size, std::size_t destination_size,
    bool clears_gaps) {
  std::size_t end = 0;  // of the parts so far that are the same bytes in the same places
  for (const StructurePart& part : parts) {
    if (part.converter || part.source_offset != end || part.destination_offset != end) break;
    end += part.destination_size;
  }
  if (end == destination_size && end == source_size) return nullptr;
  return std::make_unique<StructureConverter>(std::move(parts), clears_gaps ? destination_size : 0);
}

}  // namespace gdal_zarr
