// Types as NumPy spells them (data_type.h).
#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>

#include "zarrcore/base/text.h"
#include "zarrcore/dtype/data_type.h"

namespace zarrcore {
namespace {

std::optional<DataType> type_of(char kind, std::uint64_t size) {
  const auto long_double = [size](TypeKind type) {
    return DataType{type, size, 0, FloatFormat::long_double};
  };
  const auto number = [size](TypeKind type, std::initializer_list<std::uint64_t> sizes) {
    return std::find(sizes.begin(), sizes.end(), size) == sizes.end()
               ? std::nullopt
               : std::optional(DataType{type, size});
  };
  const auto sized = [](TypeKind type, std::uint64_t count, std::uint64_t unit) {
    return count == 0 || count > kMaxItemSize / unit ? std::nullopt
                                                     : std::optional(DataType{type, count * unit});
  };
  switch (kind) {
    case 'b':
      return number(TypeKind::boolean, {1});
    case 'i':
      return number(TypeKind::signed_integer, {1, 2, 4, 8});
    case 'u':
      return number(TypeKind::unsigned_integer, {1, 2, 4, 8});
    case 'f':
      if (size == 16) return long_double(TypeKind::floating);
      return number(TypeKind::floating, {2, 4, 8});
    case 'c':
      if (size == 32) return long_double(TypeKind::complex);
      // NumPy has no type of 4 bytes; GDAL's built-in driver writes it.
      return number(TypeKind::complex, {4, 8, 16});
    case 'M':
      return number(TypeKind::datetime, {8});
    case 'm':
      return number(TypeKind::timedelta, {8});
    case 'S':
      return sized(TypeKind::fixed_bytes, size, 1);
    case 'U':
      return sized(TypeKind::fixed_utf32, size, 4);
    case 'V':
      return sized(TypeKind::raw, size, 1);
    default:
      return std::nullopt;
  }
}

// The letter for a type, if it has one.
std::optional<char> code_of(const DataType& type) {
  const bool has_code = type.float_format == FloatFormat::ieee || type.is_long_double();
  if (type.bits != 0 || !has_code) return std::nullopt;
  for (const char code : std::string_view("biufcMmSUV")) {
    const std::uint64_t size = code == 'U' ? type.item_size / 4 : type.item_size;
    if (const auto coded = type_of(code, size); coded && coded->kind == type.kind) return code;
  }
  return std::nullopt;
}

// "[10us]" after the size of a time; the empty text is the generic unit.
std::optional<TimeUnit> parse_time_unit(std::string_view text) {
  if (text.empty()) return TimeUnit{};
  if (text.size() < 3 || text.front() != '[' || text.back() != ']') return std::nullopt;
  text = text.substr(1, text.size() - 2);
  TimeUnit unit;
  unit.count = take_number<std::int64_t>(text).value_or(unit.count);
  const auto name = find_time_unit(text);
  if (!name || unit.count < 1) return std::nullopt;
  unit.name = *name;
  return unit;
}

}  // namespace

std::optional<NumpyType> parse_numpy_type(std::string_view text) {
  if (const auto named = parse_type_name(text); named && named->kind != TypeKind::raw) {
    // Only types that NumPy has a name for.
    if (named->bits == 0 && named->float_format == FloatFormat::ieee && !named->is_variable()) {
      return NumpyType{*named};
    }
    return std::nullopt;
  }
  NumpyType result;
  if (!text.empty() && std::string_view("<>!|=").find(text[0]) != std::string_view::npos) {
    if (text[0] == '<') result.endian = Endian::little;
    if (text[0] == '>' || text[0] == '!') result.endian = Endian::big;  // "!" is network order
    text.remove_prefix(1);
  }
  if (text.size() < 2) return std::nullopt;
  std::string_view rest = text.substr(1);
  const auto size = take_number<std::uint64_t>(rest);
  const auto type = size ? type_of(text[0], *size) : std::nullopt;
  if (!type) return std::nullopt;
  result.type = *type;
  if (result.type.is_time()) {
    const auto unit = parse_time_unit(rest);
    if (!unit) return std::nullopt;
    result.type.time_unit = *unit;
  } else if (!rest.empty()) {
    return std::nullopt;
  }
  return result;
}

std::optional<std::string> format_numpy_type(const DataType& type, Endian endian) {
  const auto code = code_of(type);
  if (!code) return std::nullopt;
  const std::uint64_t unit = type.kind == TypeKind::fixed_utf32 ? 4 : 1;
  const char order = byte_units(type).empty() ? '|' : endian == Endian::little ? '<' : '>';
  std::string text{order, *code};
  text += std::to_string(type.item_size / unit);
  if (type.is_time() && type.time_unit != TimeUnit{}) {
    const TimeUnit& time_unit = type.time_unit;
    const std::string count = time_unit.count == 1 ? "" : std::to_string(time_unit.count);
    text.append("[").append(count).append(time_unit.name).append("]");
  }
  return text;
}

std::optional<NumpyType> parse_numpy_name(std::string_view text) {
  // Integers of C as they are on 64-bit Unix.
  static constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"?", "b1"},         {"bool_", "b1"},    {"b", "i1"},         {"byte", "i1"},
      {"B", "u1"},         {"ubyte", "u1"},    {"h", "i2"},         {"short", "i2"},
      {"H", "u2"},         {"ushort", "u2"},   {"i", "i4"},         {"intc", "i4"},
      {"I", "u4"},         {"uintc", "u4"},    {"l", "i8"},         {"q", "i8"},
      {"int", "i8"},       {"int_", "i8"},     {"long", "i8"},      {"longlong", "i8"},
      {"L", "u8"},         {"Q", "u8"},        {"uint", "u8"},      {"ulong", "u8"},
      {"ulonglong", "u8"}, {"e", "f2"},        {"half", "f2"},      {"f", "f4"},
      {"single", "f4"},    {"d", "f8"},        {"double", "f8"},    {"float", "f8"},
      {"float_", "f8"},    {"F", "c8"},        {"csingle", "c8"},   {"D", "c16"},
      {"cdouble", "c16"},  {"complex", "c16"}, {"complex_", "c16"},
  };
  std::string_view order;
  if (!text.empty() && std::string_view("<>!=").find(text[0]) != std::string_view::npos) {
    order = text.substr(0, 1);
    text.remove_prefix(1);
  }
  std::string spelled(text);
  for (const auto& [name, code] : kNames) {
    if (text == name) spelled = code;
  }
  for (const std::string_view time : {"datetime64", "timedelta64"}) {
    if (text.starts_with(time)) {
      spelled = (time[0] == 'd' ? "M8" : "m8") + std::string(text.substr(time.size()));
    }
  }
  return parse_numpy_type(std::string(order) + spelled);
}

}  // namespace zarrcore
