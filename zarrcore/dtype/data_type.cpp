#include "zarrcore/dtype/data_type.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "zarrcore/base/buffer.h"
#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/text.h"

namespace zarrcore {
namespace {

struct NamedType {
  std::string_view name;
  TypeKind kind;
  std::uint64_t item_size;
  std::uint8_t bits = 0;
  FloatFormat float_format = FloatFormat::ieee;

  DataType type() const { return {kind, item_size, bits, float_format}; }
};

// If a type has several names, the first is written.
constexpr NamedType kNamedTypes[] = {
    {"bool", TypeKind::boolean, 1},
    {"int8", TypeKind::signed_integer, 1},
    {"int16", TypeKind::signed_integer, 2},
    {"int32", TypeKind::signed_integer, 4},
    {"int64", TypeKind::signed_integer, 8},
    {"uint8", TypeKind::unsigned_integer, 1},
    {"uint16", TypeKind::unsigned_integer, 2},
    {"uint32", TypeKind::unsigned_integer, 4},
    {"uint64", TypeKind::unsigned_integer, 8},
    {"float16", TypeKind::floating, 2},
    {"float32", TypeKind::floating, 4},
    {"float64", TypeKind::floating, 8},
    {"complex64", TypeKind::complex, 8},
    {"complex128", TypeKind::complex, 16},
    {"complex_float32", TypeKind::complex, 8},
    {"complex_float64", TypeKind::complex, 16},
    {"complex_float16", TypeKind::complex, 4},
    {"complex32", TypeKind::complex, 4},  // as GDAL's built-in driver writes it
    {"int2", TypeKind::signed_integer, 1, 2},
    {"int4", TypeKind::signed_integer, 1, 4},
    {"uint2", TypeKind::unsigned_integer, 1, 2},
    {"uint4", TypeKind::unsigned_integer, 1, 4},
    {"bfloat16", TypeKind::floating, 2, 0, FloatFormat::bfloat16},
    {"float8_e3m4", TypeKind::floating, 1, 0, FloatFormat::float8_e3m4},
    {"float8_e4m3", TypeKind::floating, 1, 0, FloatFormat::float8_e4m3},
    {"float8_e4m3b11fnuz", TypeKind::floating, 1, 0, FloatFormat::float8_e4m3b11fnuz},
    {"float8_e4m3fn", TypeKind::floating, 1, 0, FloatFormat::float8_e4m3fn},
    {"float8_e4m3fnuz", TypeKind::floating, 1, 0, FloatFormat::float8_e4m3fnuz},
    {"float8_e5m2", TypeKind::floating, 1, 0, FloatFormat::float8_e5m2},
    {"float8_e5m2fnuz", TypeKind::floating, 1, 0, FloatFormat::float8_e5m2fnuz},
    {"float8_e8m0fnu", TypeKind::floating, 1, 0, FloatFormat::float8_e8m0fnu},
    {"float6_e2m3fn", TypeKind::floating, 1, 0, FloatFormat::float6_e2m3fn},
    {"float6_e3m2fn", TypeKind::floating, 1, 0, FloatFormat::float6_e3m2fn},
    {"float4_e2m1fn", TypeKind::floating, 1, 0, FloatFormat::float4_e2m1fn},
    {"complex_bfloat16", TypeKind::complex, 4, 0, FloatFormat::bfloat16},
    {"complex_float8_e3m4", TypeKind::complex, 2, 0, FloatFormat::float8_e3m4},
    {"complex_float8_e4m3", TypeKind::complex, 2, 0, FloatFormat::float8_e4m3},
    {"complex_float8_e4m3b11fnuz", TypeKind::complex, 2, 0, FloatFormat::float8_e4m3b11fnuz},
    {"complex_float8_e4m3fn", TypeKind::complex, 2, 0, FloatFormat::float8_e4m3fn},
    {"complex_float8_e4m3fnuz", TypeKind::complex, 2, 0, FloatFormat::float8_e4m3fnuz},
    {"complex_float8_e5m2", TypeKind::complex, 2, 0, FloatFormat::float8_e5m2},
    {"complex_float8_e5m2fnuz", TypeKind::complex, 2, 0, FloatFormat::float8_e5m2fnuz},
    {"complex_float8_e8m0fnu", TypeKind::complex, 2, 0, FloatFormat::float8_e8m0fnu},
    {"complex_float6_e2m3fn", TypeKind::complex, 2, 0, FloatFormat::float6_e2m3fn},
    {"complex_float6_e3m2fn", TypeKind::complex, 2, 0, FloatFormat::float6_e3m2fn},
    {"complex_float4_e2m1fn", TypeKind::complex, 2, 0, FloatFormat::float4_e2m1fn},
    {"string", TypeKind::variable_string, sizeof(VariableElement)},
    {"bytes", TypeKind::variable_bytes, sizeof(VariableElement)},
    {"variable_length_bytes", TypeKind::variable_bytes, sizeof(VariableElement)},
    {"binary", TypeKind::variable_bytes, sizeof(VariableElement)},
};

}  // namespace

bool DataType::operator==(const DataType& other) const {
  const bool same_fields =
      fields == other.fields || (fields && other.fields && *fields == *other.fields);
  return kind == other.kind && item_size == other.item_size && bits == other.bits &&
         float_format == other.float_format && time_unit == other.time_unit && same_fields &&
         is_optional == other.is_optional;
}

DataType DataType::value_type() const {
  return is_time() ? DataType{TypeKind::signed_integer, 8} : *this;
}

std::optional<std::string_view> find_time_unit(std::string_view name) {
  static constexpr std::array<std::string_view, 15> kUnits{
      "generic", "Y", "M", "W", "D", "h", "m", "s", "ms", "us", "\u03bcs", "ns", "ps", "fs", "as"};
  const auto unit = std::find(kUnits.begin(), kUnits.end(), name);
  return unit == kUnits.end() ? std::nullopt : std::optional(*unit);
}

DataType make_structure(std::vector<Field> fields) {
  DataType type{TypeKind::structure, 0};
  for (Field& field : fields) {
    if (field.type.is_variable()) {
      throw Error("the field \"" + field.name + "\" has a type of variable length");
    }
    field.offset = type.item_size;
    const auto size = checked_multiply(field.type.item_size, field.count);
    type.item_size = size ? checked_add(type.item_size, *size).value_or(UINT64_MAX) : UINT64_MAX;
    if (type.item_size > kMaxItemSize) throw Error("the elements of a structure are too large");
  }
  if (type.item_size == 0) throw Error("a structure without fields has no elements");
  type.fields = std::make_shared<const std::vector<Field>>(std::move(fields));
  return type;
}

DataType make_optional(DataType value) {
  DataType type = make_structure({{"valid", {TypeKind::boolean, 1}}, {"value", std::move(value)}});
  type.is_optional = true;
  return type;
}

std::vector<ByteUnit> byte_units(const DataType& type) {
  std::vector<ByteUnit> units;
  switch (type.kind) {
    case TypeKind::raw:
    case TypeKind::fixed_bytes:
    case TypeKind::variable_string:
    case TypeKind::variable_bytes:
      break;
    case TypeKind::complex:
      if (const std::size_t part = memory_size(type.item_size / 2); part > 1)
        units = {{0, part}, {part, part}};
      break;
    case TypeKind::fixed_utf32:
      for (std::size_t offset = 0; offset < type.item_size; offset += 4) {
        units.push_back({offset, 4});
      }
      break;
    case TypeKind::structure:
      for (const Field& field : *type.fields) {
        const std::vector<ByteUnit> inner = byte_units(field.type);
        for (std::uint64_t i = 0; i < field.count; ++i) {
          for (const ByteUnit& unit : inner) {
            const std::uint64_t start = field.offset + i * field.type.item_size;
            units.push_back({memory_size(start) + unit.offset, unit.size});
          }
        }
      }
      break;
    default:
      if (type.item_size > 1) units = {{0, memory_size(type.item_size)}};
  }
  return units;
}

std::string type_name(const DataType& type) {
  for (const NamedType& named : kNamedTypes) {
    if (named.type() == type) return std::string(named.name);
  }
  switch (type.kind) {
    case TypeKind::datetime:
      return "numpy.datetime64";
    case TypeKind::timedelta:
      return "numpy.timedelta64";
    case TypeKind::fixed_bytes:
      return "null_terminated_bytes";
    case TypeKind::fixed_utf32:
      return "fixed_length_utf32";
    case TypeKind::floating:
      return "long double";
    case TypeKind::complex:
      return "complex long double";
    case TypeKind::structure:
      return type.is_optional ? "zarrs.optional" : "struct";
    default:
      return "r" + std::to_string(type.item_size * 8);
  }
}

std::optional<DataType> parse_type_name(std::string_view name) {
  for (const NamedType& named : kNamedTypes) {
    if (named.name == name) return named.type();
  }
  if (name.size() < 2 || name[0] != 'r') return std::nullopt;
  const std::uint64_t bits = parse_number<std::uint64_t>(name.substr(1)).value_or(0);
  if (bits == 0 || bits % 8 != 0 || bits / 8 > kMaxItemSize) return std::nullopt;
  return DataType{TypeKind::raw, bits / 8};
}

bool same_element(const DataType& type, const std::byte* a, const std::byte* b) {
  if (!type.is_variable()) return std::memcmp(a, b, memory_size(type.item_size)) == 0;
  VariableElement left;
  VariableElement right;
  std::memcpy(&left, a, sizeof(left));
  std::memcpy(&right, b, sizeof(right));
  return left.text() == right.text();
}

}  // namespace zarrcore
