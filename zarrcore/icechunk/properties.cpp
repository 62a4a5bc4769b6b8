#include "zarrcore/icechunk/properties.h"

#include <bit>

namespace zarrcore::icechunk {
namespace {

constexpr unsigned kName = 0;
constexpr unsigned kValue = 1;

std::string number_text(std::uint64_t number, unsigned width) {
  std::string bytes;
  for (unsigned i = 0; i < width; ++i) {
    bytes += static_cast<char>(number >> (8 * (width - 1 - i)) & 0xff);
  }
  return bytes;
}

// The bytes that a number needs: 1, 2, 4 or 8.
unsigned width_of(std::uint64_t number) {
  return std::bit_ceil((static_cast<unsigned>(std::bit_width(number | 1)) + 7) / 8);
}

constexpr unsigned kShortText = 0xa0;
constexpr unsigned kShortEnd = 0xc0;
constexpr unsigned kLongText = 0xd9;  // with a size of one byte; two bytes and four follow

std::string message_pack_of(std::string_view text) {
  const unsigned width = width_of(text.size());
  std::string value;
  if (text.size() < kShortEnd - kShortText) {
    value += static_cast<char>(kShortText + text.size());
  } else {
    value += static_cast<char>(kLongText + static_cast<unsigned>(std::countr_zero(width)));
    value += number_text(text.size(), width);
  }
  return value.append(text);
}

std::optional<std::string> message_pack_text(std::string_view value) {
  if (value.empty()) return std::nullopt;
  const unsigned first = static_cast<unsigned char>(value.front());
  value.remove_prefix(1);
  std::uint64_t size = first - kShortText;
  if (first >= kLongText && first <= kLongText + 2) {
    const unsigned width = 1U << (first - kLongText);
    if (value.size() < width) return std::nullopt;
    size = 0;
    for (const char byte : value.substr(0, width)) {
      size = size << 8 | static_cast<unsigned char>(byte);
    }
    value.remove_prefix(width);
  } else if (first < kShortText || first >= kShortEnd) {
    return std::nullopt;
  }
  return value.size() == size ? std::optional<std::string>(value) : std::nullopt;
}

}  // namespace

Property text_property(std::string_view name, std::string_view text, int format) {
  return {std::string(name),
          format == 1 ? message_pack_of(text) : write_flex_buffer(std::string(text))};
}

std::optional<std::string> text_of(const Property& property, int format) {
  if (format == 1) return message_pack_text(property.value);
  const Json value = read_flex_buffer(std::as_bytes(std::span(property.value)));
  const std::string* text = as_string(value);
  return text != nullptr ? std::optional(*text) : std::nullopt;
}

std::vector<Property> read_properties(const FlatTable& table, unsigned field) {
  std::vector<Property> properties;
  const auto items = table.tables(field);
  for (std::size_t i = 0; items && i < items->size(); ++i) {
    const FlatTable item = (*items)[i];
    const auto name = required(item.text(kName), "name of a property");
    const auto value = required(item.bytes(kValue), "value of a property");
    properties.push_back(
        {std::string(name), {reinterpret_cast<const char*>(value.data()), value.size()}});
  }
  return properties;
}

void write_properties(FlatBuilder& builder, FlatBuilder::Place place,
                      const std::vector<Property>& properties) {
  FlatBuilder::Place each = builder.offsets(place, properties.size());
  for (const Property& property : properties) {
    const auto item = builder.table(each, FlatFields().offset(kName).offset(kValue));
    builder.text(item[kName], property.name);
    builder.bytes(item[kValue], std::as_bytes(std::span(property.value)));
    each += sizeof(std::uint32_t);
  }
}

}  // namespace zarrcore::icechunk
