// Data types of array elements and their layout in memory. An element is a fixed number of bytes
// in the host's byte order; the byte order of a store is a matter of the `bytes` codec.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace zarrcore {

enum class TypeKind : std::uint8_t {
  boolean,           // one byte, 0 or 1
  signed_integer,    // 1, 2, 4 or 8 bytes, two's complement
  unsigned_integer,  // 1, 2, 4 or 8 bytes
  floating,          // 2, 4 or 8 bytes, IEEE 754
  complex,           // 8 or 16 bytes: real part, imaginary part
  raw,               // bits without a meaning (v3 `r*`, v2 `V#`)
  fixed_bytes,       // a byte string padded with zero bytes (v2 `S#`)
  fixed_utf32,       // code points of 4 bytes each, padded with zeros (v2 `U#`)
};

struct DataType {
  TypeKind kind = TypeKind::unsigned_integer;
  std::uint64_t item_size = 1;  // bytes of one element

  bool operator==(const DataType&) const = default;

  bool is_numeric() const { return kind <= TypeKind::complex; }
  bool is_string() const { return kind == TypeKind::fixed_bytes || kind == TypeKind::fixed_utf32; }

  // The unit whose bytes are reversed between byte orders; 1 when order does not matter.
  std::uint64_t swap_unit() const;
};

// The v3 core name (`int16`, `float64`, `r24`…) of a type; strings have the name of the type that
// holds them in v3.
std::string type_name(const DataType& type);

// The type of a v3 core name (data types, core specification), or nothing when there is none.
std::optional<DataType> parse_type_name(std::string_view name);

// The largest item size that is taken from metadata, in bytes: a fill value has this size, and
// every stage of a codec chain holds one.
inline constexpr std::uint64_t kMaxItemSize = std::uint64_t{1} << 20;

}  // namespace zarrcore
