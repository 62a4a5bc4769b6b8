#include "driver/types/element_encoder.h"

#include <cpl_vsi.h>

#include <cstring>
#include <mutex>
#include <optional>

#include "driver/types/number_converter.h"
#include "driver/types/structure_converter.h"
#include "driver/types/type_mapping.h"
#include "zarrcore/base/buffer.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/text_encoding.h"
#include "zarrcore/dtype/convert.h"

namespace gdal_zarr {
namespace {

using zarrcore::DataType;
using zarrcore::ElementConverter;
using zarrcore::TypeKind;

// A number type of GDAL, from which the core converts to the element.
struct Intermediate {
  GDALDataType number;
  DataType type;
};

// Empty if GDAL converts to the element itself.
std::optional<Intermediate> intermediate_of(const DataType& type, GDALDataType seen) {
  const bool is_narrow = number_size(seen) != type.item_size;
  if (!type.is_numeric() || (!is_narrow && type.bits == 0 && type.kind != TypeKind::boolean)) {
    return std::nullopt;
  }
  // The widest float: rounding twice could be off by one.
  if (type.kind == TypeKind::floating) return Intermediate{GDT_Float64, {TypeKind::floating, 8}};
  if (type.kind == TypeKind::complex) return Intermediate{GDT_CFloat64, {TypeKind::complex, 16}};
  const TypeKind kind = type.kind == TypeKind::boolean ? TypeKind::unsigned_integer : type.kind;
  return Intermediate{seen, {kind, number_size(seen)}};
}

std::unique_ptr<const ElementConverter> make_number_encoder(GDALDataType source,
                                                            const DataType& type,
                                                            GDALDataType seen) {
  const auto intermediate = intermediate_of(type, seen);
  if (!intermediate) return make_number_converter(source, seen);
  return zarrcore::chain_converters(make_number_converter(source, intermediate->number),
                                    intermediate->type.item_size,
                                    zarrcore::make_numeric_converter(intermediate->type, type));
}

zarrcore::Error too_long(std::size_t length, std::uint64_t limit, const char* unit) {
  return zarrcore::Error("a text of " + std::to_string(length) + " " + unit +
                         " is longer than the " + std::to_string(limit) + " that an element holds");
}

zarrcore::Error not_utf8() {
  return zarrcore::Error("a text to be written is not UTF-8");
}

void store_variable(std::string_view text, const DataType& type, std::byte* element) {
  // The codec checks it as well, but only when the chunk is written.
  if (type.kind == TypeKind::variable_string && !zarrcore::is_utf8(text)) throw not_utf8();
  const zarrcore::VariableElement variable{text.data(), text.size()};
  std::memcpy(element, &variable, sizeof(variable));
}

void store_fixed(std::string_view text, const DataType& type, std::byte* element) {
  if (text.size() > type.item_size) {
    throw too_long(text.size(), type.item_size, "bytes");
  }
  std::memset(element, 0, type.item_size);
  if (!text.empty()) std::memcpy(element, text.data(), text.size());
}

void store_utf32(std::string_view text, const DataType& type, std::byte* element) {
  if (!zarrcore::is_utf8(text)) throw not_utf8();
  const std::u32string code_points = zarrcore::decode_utf8(text);
  const std::size_t size = code_points.size() * sizeof(char32_t);
  if (size > type.item_size) {
    throw too_long(code_points.size(), type.item_size / sizeof(char32_t), "characters");
  }
  std::memset(element, 0, type.item_size);
  std::memcpy(element, code_points.data(), size);
}

// Encodes char pointers as strings of any kind.
class TextEncoder final : public ElementConverter {
 public:
  explicit TextEncoder(const DataType& type) : type_(type) {}

  void convert(const std::byte* source, std::ptrdiff_t source_stride, std::byte* destination,
               std::ptrdiff_t destination_stride, std::size_t count) const override {
    for (std::size_t i = 0; i < count; ++i) {
      const char* text = nullptr;
      std::memcpy(&text, source, sizeof(text));
      store(text == nullptr ? "" : text, destination);
      source += source_stride;
      destination += destination_stride;
    }
  }

  void store(std::string_view text, std::byte* element) const {
    if (type_.is_variable()) return store_variable(text, type_, element);
    if (type_.kind == TypeKind::fixed_bytes) return store_fixed(text, type_, element);
    store_utf32(text, type_, element);
  }

  bool points_to_source() const { return type_.is_variable(); }

 private:
  DataType type_;
};

// Encodes numbers as strings, as GDAL formats them.
class NumberTextEncoder final : public ElementConverter {
 public:
  NumberTextEncoder(const GDALExtendedDataType& number, const DataType& type)
      : number_(number), encoder_(type) {}

  void convert(const std::byte* source, std::ptrdiff_t source_stride, std::byte* destination,
               std::ptrdiff_t destination_stride, std::size_t count) const override {
    for (std::size_t i = 0; i < count; ++i) {
      char* text = nullptr;
      GDALExtendedDataType::CopyValue(source, number_, &text, string_);
      const std::unique_ptr<char, decltype(&VSIFree)> owner(text, VSIFree);
      encoder_.store(encoder_.points_to_source() ? keep(text) : text, destination);
      source += source_stride;
      destination += destination_stride;
    }
  }

 private:
  std::string_view keep(std::string_view text) const {
    const std::lock_guard lock(mutex_);
    return texts_.keep(text).text();
  }

  GDALExtendedDataType number_;
  GDALExtendedDataType string_ = GDALExtendedDataType::CreateString();
  TextEncoder encoder_;
  mutable std::mutex mutex_;
  mutable zarrcore::Arena texts_;
};

std::unique_ptr<const ElementConverter> make_compound_encoder(
    const GDALExtendedDataType& buffer_type, const DataType& type) {
  const auto name_of = [](const auto& component) { return component->GetName(); };
  std::vector<StructurePart> parts;
  for (const Component& component : components_of(type)) {
    const auto* given =
        find_named(buffer_type.GetComponents(), parts.size(), component.name, name_of);
    parts.push_back({(*given)->GetOffset(), component.stored_offset, component.type.item_size,
                     make_element_encoder((*given)->GetType(), component.type)});
  }
  return make_structure_converter(std::move(parts), buffer_type.GetSize(), type.item_size, true);
}

}  // namespace

std::unique_ptr<const ElementConverter> make_element_encoder(
    const GDALExtendedDataType& buffer_type, const DataType& type) {
  const GDALExtendedDataType seen = gdal_type(type);
  // Texts are not converted to numbers, although some versions of GDAL can.
  const bool is_text = buffer_type.GetClass() == GEDTC_STRING;
  if (!buffer_type.CanConvertTo(seen) || (is_text && !type.is_string())) {
    throw zarrcore::Error("the type of the buffer cannot be converted to elements of type " +
                          zarrcore::type_name(type));
  }
  if (seen.GetClass() == GEDTC_COMPOUND) return make_compound_encoder(buffer_type, type);
  if (is_text) return std::make_unique<TextEncoder>(type);
  if (type.is_string()) return std::make_unique<NumberTextEncoder>(buffer_type, type);
  return make_number_encoder(buffer_type.GetNumericDataType(), type, seen.GetNumericDataType());
}

}  // namespace gdal_zarr
