#include "zarrcore/dtype/numpy_type.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>

namespace zarrcore {
namespace {

std::optional<DataType> type_of(char kind, std::uint64_t size) {
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
      return number(TypeKind::floating, {2, 4, 8});
    case 'c':
      return number(TypeKind::complex, {8, 16});
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

// "[10us]" after the size of a time; nothing at all is the generic unit.
std::optional<TimeUnit> parse_time_unit(std::string_view text) {
  if (text.empty()) return TimeUnit{};
  if (text.size() < 3 || text.front() != '[' || text.back() != ']') return std::nullopt;
  text = text.substr(1, text.size() - 2);
  TimeUnit unit;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), unit.count);
  if (error == std::errc()) text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  const auto name = find_time_unit(text);
  if (!name || unit.count < 1) return std::nullopt;
  unit.name = *name;
  return unit;
}

}  // namespace

std::optional<NumpyType> parse_numpy_type(std::string_view text) {
  if (const auto named = parse_type_name(text); named && named->kind != TypeKind::raw) {
    // Names that NumPy does not have are not meant.
    if (named->bits == 0 && named->float_format == FloatFormat::ieee && !named->is_variable()) {
      return NumpyType{*named};
    }
    return std::nullopt;
  }
  NumpyType result;
  if (!text.empty() && std::string_view("<>|=").find(text[0]) != std::string_view::npos) {
    if (text[0] == '<') result.endian = Endian::little;
    if (text[0] == '>') result.endian = Endian::big;
    text.remove_prefix(1);
  }
  if (text.size() < 2) return std::nullopt;
  std::uint64_t size = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + 1, end, size);
  if (error != std::errc()) return std::nullopt;
  const auto type = type_of(text[0], size);
  if (!type) return std::nullopt;
  result.type = *type;
  const std::string_view rest(stop, static_cast<std::size_t>(end - stop));
  if (result.type.is_time()) {
    const auto unit = parse_time_unit(rest);
    if (!unit) return std::nullopt;
    result.type.time_unit = *unit;
  } else if (!rest.empty()) {
    return std::nullopt;
  }
  return result;
}

}  // namespace zarrcore
