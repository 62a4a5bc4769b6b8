// Conversion of elements in a caller's buffer to elements of an array.
#include <cpl_vsi.h>

#include <cstring>
#include <mutex>
#include <optional>

#include "driver/types/type_mapping.h"
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

void store_text(std::string_view text, const DataType& type, std::byte* element) {
  if (type.is_variable()) return store_variable(text, type, element);
  if (type.kind == TypeKind::fixed_bytes) return store_fixed(text, type, element);
  store_utf32(text, type, element);
}

// Encodes char pointers as strings of any kind.
std::unique_ptr<const ElementConverter> make_text_encoder(const DataType& type) {
  return zarrcore::make_element_converter([type](const std::byte* from, std::byte* to) {
    const char* text = nullptr;
    std::memcpy(&text, from, sizeof(text));
    store_text(text == nullptr ? "" : text, type, to);
  });
}

// Encodes numbers as strings, as GDAL formats them.
std::unique_ptr<const ElementConverter> make_number_text_encoder(const GDALExtendedDataType& number,
                                                                 const DataType& type) {
  // The memory that elements of variable length point to.
  struct Texts {
    std::mutex mutex;
    zarrcore::Arena arena;
  };
  return zarrcore::make_element_converter(
      [number, type, texts = std::make_shared<Texts>(),
       string = GDALExtendedDataType::CreateString()](const std::byte* from, std::byte* to) {
        char* text = nullptr;
        GDALExtendedDataType::CopyValue(from, number, &text, string);
        const std::unique_ptr<char, decltype(&VSIFree)> owner(text, VSIFree);
        if (!type.is_variable()) return store_text(text, type, to);
        const std::lock_guard lock(texts->mutex);
        store_text(texts->arena.keep(text).text(), type, to);
      });
}

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
  if (is_text) return make_text_encoder(type);
  if (type.is_string()) return make_number_text_encoder(buffer_type, type);
  return make_number_encoder(buffer_type.GetNumericDataType(), type, seen.GetNumericDataType());
}

}  // namespace gdal_zarr
