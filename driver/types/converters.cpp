// Conversion of elements of an array to elements in a caller's buffer, and back.
#include <cpl_conv.h>
#include <cpl_vsi.h>

#include <cstring>
#include <limits>
#include <mutex>
#include <utility>

#include "driver/types/type_mapping.h"
#include "zarrcore/base/buffer.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/text.h"
#include "zarrcore/dtype/convert.h"
#include "zarrcore/dtype/elements.h"

namespace gdal_zarr {
namespace {

using zarrcore::DataType;
using zarrcore::ElementConverter;
using zarrcore::TypeKind;

// Converts like GDALCopyWords(), which rounds and clamps.
class NumberConverter final : public ElementConverter {
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

// Null if the types are equal.
std::unique_ptr<const ElementConverter> make_number_converter(GDALDataType source,
                                                              GDALDataType destination) {
  if (source == destination) return nullptr;
  return std::make_unique<NumberConverter>(source, destination);
}

// The offsets, in bytes, of a part in the source and in the destination.
struct StructurePart {
  std::size_t source_offset;
  std::size_t destination_offset;
  std::size_t destination_size;
  std::unique_ptr<const ElementConverter> converter;  // null if the bytes are the same
};

class StructureConverter final : public ElementConverter {
 public:
  StructureConverter(std::vector<StructurePart> parts, std::size_t cleared_size)
      : parts_(std::move(parts)), cleared_size_(cleared_size) {}

  // In batches, so that elements stay in the cache while all parts are converted.
  void convert(const std::byte* source, std::ptrdiff_t source_stride, std::byte* destination,
               std::ptrdiff_t destination_stride, std::size_t count) const override {
    zarrcore::for_each_batch(count, [&](std::size_t first, std::size_t size) {
      const auto start = static_cast<std::ptrdiff_t>(first);
      convert_batch(source + start * source_stride, source_stride,
                    destination + start * destination_stride, destination_stride, size);
    });
  }

 private:
  void convert_batch(const std::byte* source, std::ptrdiff_t source_stride, std::byte* destination,
                     std::ptrdiff_t destination_stride, std::size_t count) const {
    for (std::size_t i = 0; cleared_size_ != 0 && i < count; ++i) {
      std::memset(destination + static_cast<std::ptrdiff_t>(i) * destination_stride, 0,
                  cleared_size_);
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

// Null if structures of these sizes are the same bytes: all parts are, without gaps between them.
// With `clears_gaps`, bytes of the destination that belong to no part become zero; otherwise they
// are not changed.
std::unique_ptr<const ElementConverter> make_structure_converter(std::vector<StructurePart> parts,
                                                                 std::size_t source_size,
                                                                 std::size_t destination_size,
                                                                 bool clears_gaps) {
  std::size_t end = 0;  // of the parts so far that are the same bytes in the same places
  for (const StructurePart& part : parts) {
    if (part.converter || part.source_offset != end || part.destination_offset != end) break;
    end += part.destination_size;
  }
  if (end == destination_size && end == source_size) return nullptr;
  return std::make_unique<StructureConverter>(std::move(parts), clears_gaps ? destination_size : 0);
}

// The item named `name`, or null. Names need not be unique, so the item at `position`, where it
// usually is, has precedence.
template <typename Items, typename NameOf>
auto find_named(const Items& items, std::size_t position, const std::string& name,
                const NameOf& name_of) -> decltype(&items.front()) {
  if (position < items.size() && name_of(items[position]) == name) return &items[position];
  for (const auto& item : items) {
    if (name_of(item) == name) return &item;
  }
  return nullptr;
}

// From elements of an array.

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

// To elements of an array.

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
  const GDALDataType number = seen.GetNumericDataType();
  std::unique_ptr<const ElementConverter> widen;
  if (type.is_numeric() && number_size(number) != type.item_size) {
    widen = zarrcore::make_numeric_converter(type, {type.kind, number_size(number)});
  }
  if (is_to_text) {
    return zarrcore::chain_converters(std::move(widen), number_size(number),
                                      make_number_formatter(seen));
  }
  return zarrcore::chain_converters(
      std::move(widen), number_size(number),
      make_number_converter(number, buffer_type.GetNumericDataType()));
}

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
