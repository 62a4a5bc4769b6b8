// The inverse of parse_fill_value().
#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "zarrcore/base/endian.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/text.h"
#include "zarrcore/dtype/small_float.h"
#include "zarrcore/metadata/fill_value.h"

namespace zarrcore {
namespace {

using Bytes = std::vector<std::byte>;

Bytes part(const Bytes& element, std::uint64_t offset, std::uint64_t size) {
  const auto start = element.begin() + static_cast<std::ptrdiff_t>(offset);
  return {start, start + static_cast<std::ptrdiff_t>(size)};
}

std::uint64_t bits_of(const Bytes& number) {
  return load_unsigned(number.data(), number.size());
}

Json format_signed(const Bytes& number) {
  const auto unused = static_cast<int>(64 - 8 * number.size());
  return static_cast<std::int64_t>(bits_of(number) << unused) >> unused;
}

double float_value(std::uint64_t bits, const DataType& type) {
  if (type.float_format != FloatFormat::ieee && !type.is_long_double()) {
    return decode_small_float(type.float_format, static_cast<std::uint16_t>(bits));
  }
  switch (type.item_size) {
    case 2:
      return float16_to_float(static_cast<std::uint16_t>(bits));
    case 4:
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    default:
      return std::bit_cast<double>(bits);
  }
}

// "0x7fc00001": the bits, at full width.
std::string format_bits(std::uint64_t bits, std::uint64_t size) {
  std::string text = "0x";
  for (std::uint64_t digit = 2 * size; digit-- > 0;) {
    text += "0123456789abcdef"[bits >> (4 * digit) & 0xfu];
  }
  return text;
}

Json format_float(const Bytes& number, const DataType& type) {
  const std::uint64_t bits = bits_of(number);
  const bool is_decoded = type.is_long_double() && type.float_format != FloatFormat::long_double;
  const double value =
      is_decoded ? decode_long_double(type.float_format, number.data()) : float_value(bits, type);
  Json spelled = value;
  if (std::isnan(value)) spelled = "NaN";
  if (std::isinf(value)) spelled = value > 0 ? "Infinity" : "-Infinity";
  // The value does not determine all bits: the payload of other NaNs, or the bits above a small
  // float. A long double's own bits have no spelling.
  if (type.is_long_double() || parse_fill_value(spelled, type) == number) return spelled;
  return format_bits(bits, type.item_size);
}

Json format_complex(const Bytes& element, const DataType& type) {
  const DataType number = type.part_type();
  return {format_float(part(element, 0, number.item_size), number),
          format_float(part(element, number.item_size, number.item_size), number)};
}

Json format_byte_list(const Bytes& bytes) {
  Json list = Json::array();
  for (const std::byte byte : bytes) list.push_back(std::to_integer<unsigned>(byte));
  return list;
}

Json format_text(std::string text) {
  if (!is_utf8(text)) throw Error("the fill value is not valid UTF-8");
  return text;
}

Json format_utf32(const Bytes& element) {
  return with_context("the fill value",
                      [&] { return std::string(without_trailing(encode_utf8(element), '\0')); });
}

Json format_fixed_bytes(const Bytes& element) {
  const std::string_view text(reinterpret_cast<const char*>(element.data()), element.size());
  return encode_base64(std::as_bytes(std::span(without_trailing(text, '\0'))));
}

// Returns true if an object can hold each field under its name.
bool has_plain_fields(const DataType& type) {
  std::set<std::string_view> names;
  return std::all_of(type.fields->begin(), type.fields->end(), [&](const Field& field) {
    return field.count == 1 && field.shape.empty() && names.insert(field.name).second;
  });
}

Json format_field(const Bytes& element, const Field& field) {
  return format_fill_value(part(element, field.offset, field.type.item_size), field.type);
}

Json format_structure(const Bytes& element, const DataType& type) {
  if (type.is_optional) {
    if (element[0] == std::byte{0}) return nullptr;
    return Json::array({format_field(element, (*type.fields)[1])});
  }
  if (!has_plain_fields(type)) return encode_base64(element);
  Json object = Json::object();
  for (const Field& field : *type.fields) object[field.name] = format_field(element, field);
  return object;
}

}  // namespace

Json format_fill_value(const std::vector<std::byte>& element, const DataType& type) {
  switch (type.kind) {
    case TypeKind::boolean:
      return element[0] != std::byte{0};
    case TypeKind::unsigned_integer:
      return bits_of(element);
    case TypeKind::signed_integer:
      return format_signed(element);
    case TypeKind::floating:
      return format_float(element, type);
    case TypeKind::complex:
      return format_complex(element, type);
    case TypeKind::datetime:
    case TypeKind::timedelta: {
      Json units = format_signed(element);
      return units == INT64_MIN ? Json("NaT") : units;
    }
    case TypeKind::raw:
      return format_byte_list(element);
    case TypeKind::fixed_bytes:
      return format_fixed_bytes(element);
    case TypeKind::fixed_utf32:
      return format_utf32(element);
    case TypeKind::variable_string:
      return format_text({reinterpret_cast<const char*>(element.data()), element.size()});
    case TypeKind::variable_bytes:
      return encode_base64(element);
    case TypeKind::structure:
      return format_structure(element, type);
  }
  throw Error("the data type " + type_name(type) + " has no fill values");
}

}  // namespace zarrcore
