#include "driver/multidim/type_mapping.h"

#include <cpl_conv.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

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
      return type.item_size == 2 ? kFloat16 : type.item_size == 4 ? GDT_Float32 : GDT_Float64;
    case TypeKind::complex:
      return type.item_size == 8 ? GDT_CFloat32 : GDT_CFloat64;
    default:
      return GDT_Unknown;
  }
}

std::size_t byte_size(GDALDataType type) {
  return static_cast<std::size_t>(GDALGetDataTypeSizeBytes(type));
}

// The core type of the numbers that GDAL sees where they are wider than the stored ones.
std::optional<DataType> widened_type(const DataType& type) {
  const GDALDataType seen = numeric_type(type);
  if (seen == GDT_Unknown || byte_size(seen) == type.item_size) return std::nullopt;
  return DataType{type.kind, byte_size(seen)};
}

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
  // Anything that is not a Unicode scalar value becomes the replacement character.
  if (code_point > 0x10ffff || (code_point >= 0xd800 && code_point < 0xe000)) code_point = 0xfffd;
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
  if (type.kind == TypeKind::fixed_bytes) {
    const auto* bytes = reinterpret_cast<const char*>(element);
    return {bytes, strnlen(bytes, type.item_size)};
  }
  for (std::uint64_t i = 0; i < type.item_size; i += 4) {
    std::uint32_t code_point = 0;
    std::memcpy(&code_point, element + i, sizeof(code_point));
    if (code_point == 0) break;
    append_utf8(code_point, text);
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

// Compound types, one element at a time.
class GenericConverter final : public ElementConverter {
 public:
  GenericConverter(const GDALExtendedDataType& source, const GDALExtendedDataType& destination)
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

GDALExtendedDataType bytes_type(std::uint64_t size) {
  std::vector<std::unique_ptr<GDALEDTComponent>> components;
  for (std::uint64_t i = 0; i < size; ++i) {
    components.push_back(std::make_unique<GDALEDTComponent>(
        "byte" + std::to_string(i), i, GDALExtendedDataType::Create(GDT_Byte)));
  }
  return GDALExtendedDataType::Create("raw", size, std::move(components));
}

}  // namespace

GDALExtendedDataType gdal_type(const DataType& type) {
  if (type.is_string()) return GDALExtendedDataType::CreateString();
  const GDALDataType numeric = numeric_type(type);
  if (numeric != GDT_Unknown) return GDALExtendedDataType::Create(numeric);
  constexpr std::uint64_t kMaxComponents = 4096;
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
  if (seen == buffer_type) return nullptr;
  return std::make_unique<GenericConverter>(seen, buffer_type);
}

}  // namespace gdal_zarr
