#include "driver/multidim/type_mapping.h"

#include <cpl_conv.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "zarrcore/base/arena.h"
#include "zarrcore/base/error.h"
#include "zarrcore/dtype/convert.h"

namespace gdal_zarr {
namespace {

using zarrcore::DataType;
using zarrcore::ElementConverter;
using zarrcore::TypeKind;

GDALDataType unsigned_type(std::uint64_t size) {
  switch (size) {
    case 1:
      return GDT_Byte;
    case 2:
      return GDT_UInt16;
    case 4:
      return GDT_UInt32;
    case 8:
      return GDT_UInt64;
    default:
      return GDT_Unknown;
  }
}

// GDT_Unknown for types that are no number to GDAL.
GDALDataType numeric_type(const DataType& type) {
  switch (type.kind) {
    case TypeKind::boolean:
      return GDT_Byte;
    case TypeKind::unsigned_integer:
    case TypeKind::raw:
      return unsigned_type(type.item_size);
    case TypeKind::signed_integer:
      switch (type.item_size) {
        case 1:
          return kInt8;
        case 2:
          return GDT_Int16;
        case 4:
          return GDT_Int32;
        default:
          return GDT_Int64;
      }
    case TypeKind::floating:
      if (type.float_format != zarrcore::FloatFormat::ieee) return GDT_Float32;
      return type.item_size == 2 ? kFloat16 : type.item_size == 4 ? GDT_Float32 : GDT_Float64;
    case TypeKind::complex:
      return type.item_size == 8 ? GDT_CFloat32 : GDT_CFloat64;
    case TypeKind::datetime:
    case TypeKind::timedelta:
      return GDT_Int64;
    default:
      return GDT_Unknown;
  }
}

std::size_t byte_size(GDALDataType type) {
  return static_cast<std::size_t>(GDALGetDataTypeSizeBytes(type));
}

// The core type of the numbers that GDAL sees where they are not stored as such.
std::optional<DataType> widened_type(const DataType& type) {
  const GDALDataType seen = numeric_type(type);
  if (seen == GDT_Unknown || !type.is_numeric() || byte_size(seen) == type.item_size) {
    return std::nullopt;
  }
  return DataType{type.kind, byte_size(seen)};
}

// More would be of no use to anyone, and each costs an object.
constexpr std::size_t kMaxComponents = 4096;

class NumberConverter final : public ElementConverter {
 public:
  NumberConverter(GDALDataType source, GDALDataType destination)
      : source_(source), destination_(destination) {}

  void convert(const std::byte* source, std::ptrdiff_t source_stride, std::byte* destination,
               std::ptrdiff_t destination_stride, std::size_t count) const override {
    // GDAL counts strides with an int.
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

// Widens numbers a block at a time and hands them on.
class WideningConverter final : public ElementConverter {
 public:
  WideningConverter(std::unique_ptr<const ElementConverter> widen, GDALDataType seen,
                    GDALDataType destination)
      : widen_(std::move(widen)), size_(byte_size(seen)), convert_(seen, destination) {}

  void convert(const std::byte* source, std::ptrdiff_t source_stride, std::byte* destination,
               std::ptrdiff_t destination_stride, std::size_t count) const override {
    std::byte block[kBlock * sizeof(double)];
    const auto size = static_cast<std::ptrdiff_t>(size_);
    for (std::size_t done = 0; done < count; done += kBlock) {
      const std::size_t now = std::min(kBlock, count - done);
      const auto offset = static_cast<std::ptrdiff_t>(done);
      widen_->convert(source + offset * source_stride, source_stride, block, size, now);
      convert_.convert(block, size, destination + offset * destination_stride, destination_stride,
                       now);
    }
  }

 private:
  static constexpr std::size_t kBlock = 256;

  std::unique_ptr<const ElementConverter> widen_;
  std::size_t size_;
  NumberConverter convert_;
};

void append_utf8(std::uint32_t code_point, std::string& text) {
  if (code_point > 0x10ffff || (code_point >= 0xd800 && code_point < 0xe000)) {
    throw zarrcore::Error("an element holds the number " + std::to_string(code_point) +
                          " where a character is expected");
  }
  if (code_point < 0x80) {
    text += static_cast<char>(code_point);
    return;
  }
  const int more = code_point < 0x800 ? 1 : code_point < 0x10000 ? 2 : 3;
  constexpr unsigned kLead[] = {0, 0xc0, 0xe0, 0xf0};
  text += static_cast<char>(kLead[more] | code_point >> (6 * more));
  for (int shift = 6 * (more - 1); shift >= 0; shift -= 6) {
    text += static_cast<char>(0x80 | (code_point >> shift & 0x3f));
  }
}

std::string string_value(const std::byte* element, const DataType& type) {
  std::string text;
  if (type.is_variable()) {
    zarrcore::VariableElement variable;
    std::memcpy(&variable, element, sizeof(variable));
    text = variable.text();
  } else if (type.kind == TypeKind::fixed_bytes) {
    text.assign(reinterpret_cast<const char*>(element), type.item_size);
  } else {
    for (std::uint64_t i = 0; i < type.item_size; i += 4) {
      std::uint32_t code_point = 0;
      std::memcpy(&code_point, element + i, sizeof(code_point));
      append_utf8(code_point, text);
    }
  }
  // The zeros at the end of a fixed length are padding.
  if (!type.is_variable()) text.erase(text.find_last_not_of('\0') + 1);
  if (text.find('\0') != std::string::npos) {
    throw zarrcore::Error("an element holds a zero byte, which a string of GDAL cannot");
  }
  return text;
}

class StringConverter final : public ElementConverter {
 public:
  StringConverter(const DataType& type, const GDALExtendedDataType& destination)
      : type_(type), destination_(destination) {}

  void convert(const std::byte* source, std::ptrdiff_t source_stride, std::byte* destination,
               std::ptrdiff_t destination_stride, std::size_t count) const override {
    const GDALExtendedDataType string_type = GDALExtendedDataType::CreateString();
    for (std::size_t i = 0; i < count; ++i) {
      const std::string text = string_value(source, type_);
      const char* pointer = text.c_str();
      GDALExtendedDataType::CopyValue(&pointer, string_type, destination, destination_);
      source += source_stride;
      destination += destination_stride;
    }
  }

 private:
  DataType type_;
  GDALExtendedDataType destination_;
};

// Compounds of the same layout in memory, one element at a time.
class CompoundConverter final : public ElementConverter {
 public:
  CompoundConverter(const GDALExtendedDataType& source, const GDALExtendedDataType& destination)
      : source_(source), destination_(destination) {}

  void convert(const std::byte* source, std::ptrdiff_t source_stride, std::byte* destination,
               std::ptrdiff_t destination_stride, std::size_t count) const override {
    for (std::size_t i = 0; i < count; ++i) {
      GDALExtendedDataType::CopyValue(source, source_, destination, destination_);
      source += source_stride;
      destination += destination_stride;
    }
  }

 private:
  GDALExtendedDataType source_;
  GDALExtendedDataType destination_;
};

// Where an element of a structure goes in the compound that GDAL sees.
struct Component {
  std::string name;
  std::uint64_t source_offset;
  std::size_t offset;
  DataType type;
  GDALExtendedDataType seen;
};

// The numbers and strings in an element, those of nested structures included.
std::uint64_t count_leaves(const DataType& type) {
  if (type.kind != TypeKind::structure) {
    return numeric_type(type) == GDT_Unknown && !type.is_string() ? type.item_size : 1;
  }
  std::uint64_t leaves = 0;
  for (const zarrcore::Field& field : *type.fields) {
    // Neither factor passes the largest item size.
    if (!field.name.empty()) leaves += field.count * count_leaves(field.type);
  }
  return leaves;
}

std::vector<Component> components_of(const DataType& structure) {
  if (count_leaves(structure) > kMaxComponents) {
    throw zarrcore::Error("a structure of so many fields has no counterpart in GDAL");
  }
  std::vector<Component> components;
  std::size_t offset = 0;
  for (const zarrcore::Field& field : *structure.fields) {
    if (field.name.empty()) continue;  // padding
    for (std::uint64_t i = 0; i < field.count; ++i) {
      const GDALExtendedDataType seen = gdal_type(field.type);
      components.push_back(
          {field.shape.empty() ? field.name : field.name + '[' + std::to_string(i) + ']',
           field.offset + i * field.type.item_size, offset, field.type, seen});
      offset += seen.GetSize();
    }
  }
  if (components.empty()) throw zarrcore::Error("a structure has no field with a name");
  return components;
}

// Structures to the compound that GDAL sees, and from there to what is asked for.
class StructureConverter final : public ElementConverter {
 public:
  StructureConverter(const DataType& type, const GDALExtendedDataType& destination)
      : seen_(gdal_type(type)), destination_(destination), components_(components_of(type)) {
    for (const Component& component : components_) {
      converters_.push_back(make_converter(component.type, component.seen));
    }
  }

  void convert(const std::byte* source, std::ptrdiff_t source_stride, std::byte* destination,
               std::ptrdiff_t destination_stride, std::size_t count) const override {
    std::vector<std::byte> element(seen_.GetSize());
    for (std::size_t i = 0; i < count; ++i) {
      std::fill(element.begin(), element.end(), std::byte{0});
      for (std::size_t k = 0; k < components_.size(); ++k) {
        const Component& component = components_[k];
        const std::byte* from = source + component.source_offset;
        std::byte* to = element.data() + component.offset;
        if (converters_[k]) {
          converters_[k]->convert(from, 0, to, 0, 1);
        } else {
          std::memcpy(to, from, component.type.item_size);
        }
      }
      GDALExtendedDataType::CopyValue(element.data(), seen_, destination, destination_);
      seen_.FreeDynamicMemory(element.data());
      source += source_stride;
      destination += destination_stride;
    }
  }

 private:
  GDALExtendedDataType seen_;
  GDALExtendedDataType destination_;
  std::vector<Component> components_;
  std::vector<std::unique_ptr<const ElementConverter>> converters_;
};

GDALExtendedDataType bytes_type(std::uint64_t size) {
  std::vector<std::unique_ptr<GDALEDTComponent>> components;
  for (std::uint64_t i = 0; i < size; ++i) {
    components.push_back(std::make_unique<GDALEDTComponent>(
        "byte" + std::to_string(i), i, GDALExtendedDataType::Create(GDT_Byte)));
  }
  return GDALExtendedDataType::Create("raw", size, std::move(components));
}

GDALExtendedDataType compound_type(const DataType& structure) {
  std::vector<std::unique_ptr<GDALEDTComponent>> components;
  std::size_t size = 0;
  for (const Component& component : components_of(structure)) {
    components.push_back(
        std::make_unique<GDALEDTComponent>(component.name, component.offset, component.seen));
    size = component.offset + component.seen.GetSize();
  }
  return GDALExtendedDataType::Create("", size, std::move(components));
}

}  // namespace

GDALExtendedDataType gdal_type(const DataType& type) {
  if (type.is_string()) return GDALExtendedDataType::CreateString();
  if (type.kind == TypeKind::structure) return compound_type(type);
  const GDALDataType numeric = numeric_type(type);
  if (numeric != GDT_Unknown) return GDALExtendedDataType::Create(numeric);
  if (type.item_size > kMaxComponents) {
    throw zarrcore::Error("elements of " + std::to_string(type.item_size) +
                          " raw bytes have no counterpart in GDAL");
  }
  return bytes_type(type.item_size);
}

std::unique_ptr<const ElementConverter> make_converter(const DataType& type,
                                                       const GDALExtendedDataType& buffer_type) {
  const GDALExtendedDataType seen = gdal_type(type);
  if (!seen.CanConvertTo(buffer_type)) {
    throw zarrcore::Error("elements of type " + zarrcore::type_name(type) +
                          " cannot be converted to the type of the buffer");
  }
  if (type.is_string()) return std::make_unique<StringConverter>(type, buffer_type);
  if (seen.GetClass() == GEDTC_NUMERIC && buffer_type.GetClass() == GEDTC_NUMERIC) {
    const GDALDataType source = seen.GetNumericDataType();
    const GDALDataType destination = buffer_type.GetNumericDataType();
    if (const auto wide = widened_type(type)) {
      auto widen = zarrcore::make_numeric_converter(type, *wide);
      if (source == destination) return widen;
      return std::make_unique<WideningConverter>(std::move(widen), source, destination);
    }
    if (source == destination) return nullptr;
    return std::make_unique<NumberConverter>(source, destination);
  }
  if (type.kind == TypeKind::structure) {
    return std::make_unique<StructureConverter>(type, buffer_type);
  }
  if (seen == buffer_type) return nullptr;
  return std::make_unique<CompoundConverter>(seen, buffer_type);
}

}  // namespace gdal_zarr
