#include "zarrcore/dtype/data_type.h"

#include <charconv>

namespace zarrcore {
namespace {

struct NamedType {
  std::string_view name;
  DataType type;
};

constexpr NamedType kCoreTypes[] = {
    {"bool", {TypeKind::boolean, 1}},
    {"int8", {TypeKind::signed_integer, 1}},
    {"int16", {TypeKind::signed_integer, 2}},
    {"int32", {TypeKind::signed_integer, 4}},
    {"int64", {TypeKind::signed_integer, 8}},
    {"uint8", {TypeKind::unsigned_integer, 1}},
    {"uint16", {TypeKind::unsigned_integer, 2}},
    {"uint32", {TypeKind::unsigned_integer, 4}},
    {"uint64", {TypeKind::unsigned_integer, 8}},
    {"float16", {TypeKind::floating, 2}},
    {"float32", {TypeKind::floating, 4}},
    {"float64", {TypeKind::floating, 8}},
    {"complex64", {TypeKind::complex, 8}},
    {"complex128", {TypeKind::complex, 16}},
    // Synonyms: the names above are the ones that are written.
    {"complex_float32", {TypeKind::complex, 8}},
    {"complex_float64", {TypeKind::complex, 16}},
};

}  // namespace

std::uint64_t DataType::swap_unit() const {
  switch (kind) {
    case TypeKind::complex:
      return item_size / 2;
    case TypeKind::fixed_utf32:
      return 4;
    case TypeKind::raw:
    case TypeKind::fixed_bytes:
      return 1;
    default:
      return item_size;
  }
}

std::string type_name(const DataType& type) {
  for (const NamedType& named : kCoreTypes) {
    if (named.type == type) return std::string(named.name);
  }
  switch (type.kind) {
    case TypeKind::fixed_bytes:
      return "null_terminated_bytes";
    case TypeKind::fixed_utf32:
      return "fixed_length_utf32";
    default:
      return "r" + std::to_string(type.item_size * 8);
  }
}

std::optional<DataType> parse_type_name(std::string_view name) {
  for (const NamedType& named : kCoreTypes) {
    if (named.name == name) return named.type;
  }
  if (name.size() < 2 || name[0] != 'r') return std::nullopt;
  std::uint64_t bits = 0;
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + 1, end, bits);
  if (error != std::errc() || stop != end) return std::nullopt;
  if (bits == 0 || bits % 8 != 0 || bits / 8 > kMaxItemSize) return std::nullopt;
  return DataType{TypeKind::raw, bits / 8};
}

}  // namespace zarrcore
