// Data types of array elements and their layout in memory. An element is a fixed number of bytes
// in the host's byte order; the `bytes` codec handles the byte order of a store.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "zarrcore/base/api.h"
#include "zarrcore/base/buffer.h"
#include "zarrcore/base/endian.h"

namespace zarrcore {

enum class TypeKind : std::uint8_t {
  boolean,           // one byte, 0 or 1
  signed_integer,    // 1, 2, 4 or 8 bytes, two's complement
  unsigned_integer,  // 1, 2, 4 or 8 bytes
  floating,          // 1, 2, 4, 8 or 16 bytes; see FloatFormat
  complex,           // two floats of any format: real part, imaginary part
  datetime,          // int64: time units since 1970-01-01; -2^63 is "not a time"
  timedelta,         // int64: time units; -2^63 is "not a time"
  raw,               // uninterpreted bits (v3 `r*`, v2 `V#`)
  fixed_bytes,       // a byte string padded with zero bytes (v2 `S#`)
  fixed_utf32,       // code points of 4 bytes each, padded with zeros (v2 `U#`)
  variable_string,   // UTF-8 of any length: a VariableElement (base/buffer.h)
  variable_bytes,    // bytes of any length: a VariableElement
  structure,         // fields one after the other
};

// The format of a float, or of each part of a complex number. Names as in zarr-extensions and
// ml_dtypes: e exponent bits, m mantissa bits; fn: no infinities; uz: no negative zero; b11:
// exponent bias 11. Formats of less than 8 bits are in the low bits of a byte.
enum class FloatFormat : std::uint8_t {
  ieee,  // binary16, binary32, binary64 by item size
  bfloat16,
  float8_e3m4,
  float8_e4m3,
  float8_e4m3b11fnuz,
  float8_e4m3fn,
  float8_e4m3fnuz,
  float8_e5m2,
  float8_e5m2fnuz,
  float8_e8m0fnu,
  float6_e2m3fn,
  float6_e3m2fn,
  float4_e2m1fn,
  // 16 bytes; see dtype/small_float.h.
  long_double,  // float80 or float128: a store does not say which
  float80,
  float128,
};

// The unit of datetimes: `count` times a NumPy unit ("ns", "D"…; "generic" if it has none).
struct TimeUnit {
  std::string_view name = "generic";  // of the constant list, see find_time_unit()
  std::int64_t count = 1;

  bool operator==(const TimeUnit&) const = default;
};

// The unit of this name in the list of NumPy's units, or nullopt when NumPy has no such unit.
ZARRCORE_API std::optional<std::string_view> find_time_unit(std::string_view name);

struct Field;

struct ZARRCORE_API DataType {
  TypeKind kind = TypeKind::unsigned_integer;
  std::uint64_t item_size = 1;  // bytes of one element
  // For an integer of 2 or 4 bits, which takes a byte in memory, sign-extended; else 0.
  std::uint8_t bits = 0;
  FloatFormat float_format = FloatFormat::ieee;
  TimeUnit time_unit = {};
  // For a structure; else null.
  std::shared_ptr<const std::vector<Field>> fields = nullptr;
  // True if it is a structure of make_optional().
  bool is_optional = false;

  bool operator==(const DataType& other) const;

  bool is_numeric() const { return kind <= TypeKind::complex; }
  bool is_integer() const {
    return kind == TypeKind::signed_integer || kind == TypeKind::unsigned_integer;
  }
  bool is_time() const { return kind == TypeKind::datetime || kind == TypeKind::timedelta; }
  bool is_variable() const {
    return kind == TypeKind::variable_string || kind == TypeKind::variable_bytes;
  }
  bool is_string() const {
    return kind == TypeKind::fixed_bytes || kind == TypeKind::fixed_utf32 || is_variable();
  }

  // The numeric type of an element's value: int64 for times, else the type itself.
  DataType value_type() const;
  bool is_long_double() const { return float_format >= FloatFormat::long_double; }
  // The type of the real and the imaginary part of a complex type.
  DataType part_type() const { return {TypeKind::floating, item_size / 2, 0, float_format}; }
};

// A field of a structure. A field without a name is padding.
struct Field {
  std::string name;
  DataType type;
  std::uint64_t offset = 0;  // bytes from the element's start
  // The number of elements in the field, and their shape (v2 subarrays); else 1 and empty.
  std::uint64_t count = 1;
  std::vector<std::uint64_t> shape = {};

  bool operator==(const Field&) const = default;
};

// A structure of fields one after the other; sets their offsets. Throws Error when its size passes
// kMaxItemSize, or when a field has a type of variable length.
ZARRCORE_API DataType make_structure(std::vector<Field> fields);

// The type of elements that may be missing (zarrs, "zarrs.optional"): a structure of a boolean
// `valid` and the `value`, which is zero if the element is missing. Throws Error like
// make_structure().
ZARRCORE_API DataType make_optional(DataType value);

// A run of bytes in an element that are one number as far as byte order is concerned.
struct ByteUnit {
  std::size_t offset = 0;  // in the element
  std::size_t size = 1;
};

// The units of more than one byte in an element, in the order of their offsets.
ZARRCORE_API std::vector<ByteUnit> byte_units(const DataType& type);

// The v3 name (`int16`, `float64`, `r24`…) of a type, without the configuration that some types
// need.
ZARRCORE_API std::string type_name(const DataType& type);

// The type of a v3 name that needs no configuration (data types, core specification, and
// zarr-extensions), or nullopt.
ZARRCORE_API std::optional<DataType> parse_type_name(std::string_view name);

// Returns true if two elements of a type are equal: bit for bit, or for variable length byte for
// byte.
ZARRCORE_API bool same_element(const DataType& type, const std::byte* a, const std::byte* b);

// The largest item size accepted from metadata, in bytes: every stage of a codec chain holds a fill
// value of this size.
inline constexpr std::uint64_t kMaxItemSize = std::uint64_t{1} << 20;

// --- NumPy's spelling (numpy_type.cpp) -----------------------------------------------------------

// Type strings ("<f4", "|S12", ">M8[10us]"), which v1, v2 and the draft of v3 use, and names
// ("float64"), which filters of numcodecs accept as well.
struct NumpyType {
  DataType type;
  Endian endian = Endian::little;  // of each unit of the type; also where the text states none
};

// Returns nullopt when `text` is not a type of fixed size that has a counterpart.
std::optional<NumpyType> parse_numpy_type(std::string_view text);

// Makes the type string that parse_numpy_type() reads; `endian` is stated for types of several
// bytes. Returns nullopt when NumPy has no such type.
std::optional<std::string> format_numpy_type(const DataType& type, Endian endian);

// Like parse_numpy_type(), but reads everything that numpy.dtype() accepts, as options of filters
// have it: "float", "i", "datetime64[ns]".
std::optional<NumpyType> parse_numpy_name(std::string_view text);

}  // namespace zarrcore
