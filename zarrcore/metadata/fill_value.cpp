#include "zarrcore/metadata/fill_value.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "zarrcore/base/endian.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/text.h"
#include "zarrcore/dtype/small_float.h"

namespace zarrcore {
namespace {

using Bytes = std::vector<std::byte>;

[[noreturn]] void refuse(const Json& value, const DataType& type) {
  throw Error("the fill value " + excerpt(value) + " does not fit the data type " +
              type_name(type));
}

// Some writers give zero when the data type has no numbers.
bool is_zero(const Json& value) {
  return value.is_number() && value.get<double>() == 0;
}

// The low `size` bytes of `bits` as an integer of that size in memory.
Bytes integer_bytes(std::uint64_t bits, std::uint64_t size) {
  Bytes bytes(memory_size(size));
  store_unsigned(bits, size, bytes.data());
  return bytes;
}

Bytes parse_bool(const Json& value, const DataType& type) {
  if (value.is_boolean()) return {std::byte{value.get<bool>()}};
  if (value.is_number()) {
    const double number = value.get<double>();
    if (number == 0 || number == 1) return {std::byte{number == 1}};
  }
  refuse(value, type);
}

// "12", and "0x0c" and "0b1100", which the draft of 2020 allows.
std::optional<std::uint64_t> parse_magnitude(std::string_view text) {
  const int base = text.starts_with("0x") ? 16 : text.starts_with("0b") ? 2 : 10;
  if (base != 10) text.remove_prefix(2);
  return parse_digits(text, base);
}

// A whole number as a sign and a magnitude.
struct Whole {
  bool negative;
  std::uint64_t magnitude;
};

std::optional<Whole> parse_whole(const Json& value) {
  if (value.is_number_unsigned()) return Whole{false, value.get<std::uint64_t>()};
  if (value.is_number_integer()) {
    const auto number = value.get<std::int64_t>();
    return Whole{number < 0, number < 0 ? 0 - static_cast<std::uint64_t>(number)
                                        : static_cast<std::uint64_t>(number)};
  }
  if (value.is_boolean()) return Whole{false, value.get<bool>() ? 1u : 0u};
  if (value.is_number_float()) {
    const double number = value.get<double>();
    if (std::trunc(number) != number || std::abs(number) >= 0x1p64) return std::nullopt;
    return Whole{number < 0, static_cast<std::uint64_t>(std::abs(number))};
  }
  if (value.is_string()) {
    std::string_view text = value.get_ref<const std::string&>();
    Whole whole{text.starts_with('-'), 0};
    if (whole.negative) text.remove_prefix(1);
    const auto magnitude = parse_magnitude(text);
    if (!magnitude) return std::nullopt;
    whole.magnitude = *magnitude;
    return whole;
  }
  return std::nullopt;
}

Bytes parse_integer(const Json& value, const DataType& type) {
  const auto whole = parse_whole(value);
  if (!whole) refuse(value, type);
  const std::uint64_t bits = type.bits != 0 ? type.bits : type.item_size * 8;
  const bool is_signed = type.kind == TypeKind::signed_integer;
  const std::uint64_t positive_limit = UINT64_MAX >> (64 - bits + (is_signed ? 1 : 0));
  const std::uint64_t negative_limit = is_signed ? positive_limit + 1 : 0;
  if (whole->magnitude > (whole->negative ? negative_limit : positive_limit)) refuse(value, type);
  return integer_bytes(whole->negative ? 0 - whole->magnitude : whole->magnitude, type.item_size);
}

// Until its format is known, a long double holds a float64 in its first bytes.
Bytes float_bytes(double number, const DataType& type) {
  if (type.is_long_double()) {
    Bytes bytes = integer_bytes(std::bit_cast<std::uint64_t>(number), sizeof(number));
    bytes.resize(memory_size(type.item_size));
    if (type.float_format != FloatFormat::long_double) {
      encode_long_double(type.float_format, number, bytes.data());
    }
    return bytes;
  }
  if (type.float_format != FloatFormat::ieee) {
    return integer_bytes(encode_small_float(type.float_format, number), type.item_size);
  }
  switch (type.item_size) {
    case 2:
      return integer_bytes(double_to_float16(number), 2);
    case 4:
      return integer_bytes(std::bit_cast<std::uint32_t>(static_cast<float>(number)), 4);
    default:
      return integer_bytes(std::bit_cast<std::uint64_t>(number), 8);
  }
}

// The bits of a number, most significant digit first, at full width: "0x7fc00001", "0b0111…". Of a
// long double, these are bits of a float64.
std::optional<Bytes> parse_bits(std::string_view text, const DataType& type) {
  const std::uint64_t size = type.is_long_double() ? sizeof(double) : type.item_size;
  const std::uint64_t digits = text.starts_with("0x") ? 2 * size : 8 * size;
  const auto bits = parse_magnitude(text);
  if (!bits || text.size() != 2 + digits) return std::nullopt;
  return type.is_long_double() ? float_bytes(std::bit_cast<double>(*bits), type)
                               : integer_bytes(*bits, size);
}

std::optional<Bytes> parse_float_text(std::string_view text, const DataType& type) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (text == "NaN") return float_bytes(std::numeric_limits<double>::quiet_NaN(), type);
  if (text == "Infinity" || text == "+Infinity") return float_bytes(kInfinity, type);
  if (text == "-Infinity") return float_bytes(-kInfinity, type);
  if (text.starts_with("0x") || text.starts_with("0b")) return parse_bits(text, type);
  const auto number = parse_number<double>(text);
  return number ? std::optional(float_bytes(*number, type)) : std::nullopt;
}

// A float of the type `number`, which is `type` or the part of a complex one.
Bytes parse_float(const Json& value, const DataType& number, const DataType& type) {
  if (value.is_number()) return float_bytes(value.get<double>(), number);
  if (const std::string* text = as_string(value)) {
    if (auto bytes = parse_float_text(*text, number)) return *std::move(bytes);
  }
  refuse(value, type);
}

Bytes parse_complex(const Json& value, const DataType& type) {
  const DataType part = type.part_type();
  const bool has_two_parts = value.is_array() && value.size() == 2;
  Bytes bytes = parse_float(has_two_parts ? value[0] : value, part, type);
  const Bytes imaginary =
      has_two_parts ? parse_float(value[1], part, type) : Bytes(memory_size(part.item_size));
  bytes.insert(bytes.end(), imaginary.begin(), imaginary.end());
  return bytes;
}

// Adds zeros to bytes that are fewer than the element has.
Bytes padded(Bytes bytes, const Json& value, const DataType& type) {
  if (bytes.size() > type.item_size) refuse(value, type);
  bytes.resize(memory_size(type.item_size));
  return bytes;
}

Bytes parse_byte_list(const Json& value, const DataType& type) {
  if (!value.is_array()) refuse(value, type);
  Bytes bytes;
  for (const Json& item : value) {
    if (!item.is_number_integer() || item < 0 || item > 255) refuse(value, type);
    bytes.push_back(static_cast<std::byte>(item.get<std::uint8_t>()));
  }
  return bytes;
}

// `value` is a string.
Bytes parse_base64(const Json& value, const DataType& type) {
  auto bytes = decode_base64(value.get_ref<const std::string&>());
  if (!bytes) refuse(value, type);
  return std::move(*bytes);
}

Bytes parse_bytes(const Json& value, const DataType& type) {
  if (value.is_string()) {
    Bytes bytes = parse_base64(value, type);
    if (type.kind == TypeKind::raw && !bytes.empty() && bytes.size() != type.item_size) {
      refuse(value, type);
    }
    return padded(std::move(bytes), value, type);
  }
  if (value.is_array()) {
    Bytes bytes = parse_byte_list(value, type);
    if (bytes.size() != type.item_size) refuse(value, type);
    return bytes;
  }
  if (is_zero(value)) return Bytes(memory_size(type.item_size));
  refuse(value, type);
}

Bytes parse_utf32(const Json& value, const DataType& type) {
  if (is_zero(value)) return Bytes(memory_size(type.item_size));
  if (!value.is_string()) refuse(value, type);
  const std::u32string text = decode_utf8(value.get_ref<const std::string&>());
  const ByteSpan bytes = std::as_bytes(std::span(text));
  return padded({bytes.begin(), bytes.end()}, value, type);
}

// The bytes that the element holds, of any length.
Bytes parse_variable(const Json& value, const DataType& type) {
  if (is_zero(value)) return {};
  if (type.kind == TypeKind::variable_string) {
    if (!value.is_string()) refuse(value, type);
    const ByteSpan text = std::as_bytes(std::span(value.get_ref<const std::string&>()));
    return {text.begin(), text.end()};
  }
  return value.is_string() ? parse_base64(value, type) : parse_byte_list(value, type);
}

// Puts the field of a structure to its place in `element`.
void parse_field(const Json& value, const Field& field, Bytes& element) {
  const Bytes bytes = parse_fill_value(value, field.type);
  std::ranges::copy(bytes, element.begin() + static_cast<std::ptrdiff_t>(field.offset));
}

// `null` for a missing element, else a list of its value.
Bytes parse_optional(const Json& value, const DataType& type) {
  Bytes bytes(memory_size(type.item_size));
  if (value.is_null()) return bytes;
  if (!value.is_array() || value.size() != 1) refuse(value, type);
  bytes[0] = std::byte{1};
  parse_field(value[0], (*type.fields)[1], bytes);
  return bytes;
}

Bytes parse_structure(const Json& value, const DataType& type) {
  if (!value.is_object()) return parse_bytes(value, type);
  Bytes bytes(memory_size(type.item_size));
  for (const Field& field : *type.fields) {
    const Json* member = find_member(value, field.name);
    if (member != nullptr && field.count == 1) parse_field(*member, field, bytes);
  }
  return bytes;
}

}  // namespace

std::vector<std::byte> parse_fill_value(const Json& value, const DataType& type) {
  if (type.is_optional) return parse_optional(value, type);
  // A list can also be the bytes of a raw or fixed_bytes element.
  const bool is_bytes = type.kind == TypeKind::raw || type.kind == TypeKind::fixed_bytes ||
                        type.kind == TypeKind::variable_bytes;
  const bool is_single = value.is_array() && value.size() == 1;
  if (is_single && !is_bytes) return parse_fill_value(value[0], type);
  switch (type.kind) {
    case TypeKind::datetime:
    case TypeKind::timedelta:
      if (value == "NaT") return integer_bytes(std::uint64_t{1} << 63, 8);
      return parse_integer(value, type.value_type());
    case TypeKind::variable_string:
    case TypeKind::variable_bytes:
      return parse_variable(value, type);
    case TypeKind::structure:
      return parse_structure(value, type);
    case TypeKind::boolean:
      return parse_bool(value, type);
    case TypeKind::signed_integer:
    case TypeKind::unsigned_integer:
      return parse_integer(value, type);
    case TypeKind::floating:
      return parse_float(value, type, type);
    case TypeKind::complex:
      return parse_complex(value, type);
    case TypeKind::raw:
    case TypeKind::fixed_bytes:
      return parse_bytes(value, type);
    case TypeKind::fixed_utf32:
      return parse_utf32(value, type);
  }
  refuse(value, type);
}

}  // namespace zarrcore
