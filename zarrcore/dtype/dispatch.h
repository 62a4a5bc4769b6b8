// Selects a C++ type by a data type at run time, for code that computes with elements.
#pragma once

#include <complex>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "zarrcore/base/error.h"
#include "zarrcore/dtype/data_type.h"
#include "zarrcore/dtype/small_float.h"

namespace zarrcore {

// Elements for which C++ has no type.
struct Bool {
  std::uint8_t value;
};
struct Float16 {
  std::uint16_t bits;
};

template <typename T>
struct IsComplex : std::false_type {};
template <typename T>
struct IsComplex<std::complex<T>> : std::true_type {};

// The value of the element at `bytes`, which need not be aligned: a uint8_t for Bool, a float for
// Float16, else a T.
template <typename T>
auto load_element(const std::byte* bytes) {
  T stored;
  std::memcpy(&stored, bytes, sizeof(T));
  if constexpr (std::is_same_v<T, Bool>) {
    return static_cast<std::uint8_t>(stored.value != 0);
  } else if constexpr (std::is_same_v<T, Float16>) {
    return float16_to_float(stored.bits);
  } else {
    return stored;
  }
}

// The inverse: stores a value as an element of type T.
template <typename T, typename Value>
void store_element(Value value, std::byte* bytes) {
  T stored;
  if constexpr (std::is_same_v<T, Bool>) {
    stored = {static_cast<std::uint8_t>(value != Value{0})};
  } else if constexpr (std::is_same_v<T, Float16>) {
    stored = {double_to_float16(static_cast<double>(value))};
  } else {
    stored = value;
  }
  std::memcpy(bytes, &stored, sizeof(T));
}

// The type that load_element() returns for an element of type T.
template <typename T>
using ValueOf = decltype(load_element<T>(nullptr));

// The value that is loaded after `value` was stored as a T.
template <typename T, typename Value>
ValueOf<T> rounded_to(Value value) {
  std::byte element[sizeof(T)];
  store_element<T>(value, element);
  return load_element<T>(element);
}

// Passes a type as an argument of a call.
template <typename T>
struct TypeTag {
  using Type = T;
};

inline Error not_real_numbers(const DataType& type) {
  return Error("elements of the type " + type_name(type) + " are not real numbers");
}

// Calls `body` with the TypeTag of a type of real numbers: an integer, Float16, float or double.
// Throws Error for other types and for float formats other than IEEE's.
template <typename Body>
auto with_real_type(const DataType& type, const Body& body) {
  switch (type.kind) {
    case TypeKind::signed_integer:
      switch (type.item_size) {
        case 1:
          return body(TypeTag<std::int8_t>());
        case 2:
          return body(TypeTag<std::int16_t>());
        case 4:
          return body(TypeTag<std::int32_t>());
        default:
          return body(TypeTag<std::int64_t>());
      }
    case TypeKind::unsigned_integer:
      switch (type.item_size) {
        case 1:
          return body(TypeTag<std::uint8_t>());
        case 2:
          return body(TypeTag<std::uint16_t>());
        case 4:
          return body(TypeTag<std::uint32_t>());
        default:
          return body(TypeTag<std::uint64_t>());
      }
    case TypeKind::floating:
      if (type.float_format != FloatFormat::ieee) break;
      switch (type.item_size) {
        case 2:
          return body(TypeTag<Float16>());
        case 4:
          return body(TypeTag<float>());
        default:
          return body(TypeTag<double>());
      }
    default:
      break;
  }
  throw not_real_numbers(type);
}

// The same for all numeric types that C++ computes with: also Bool, and complex types of floats and
// doubles.
template <typename Body>
auto with_numeric_type(const DataType& type, const Body& body) {
  switch (type.kind) {
    case TypeKind::boolean:
      return body(TypeTag<Bool>());
    case TypeKind::complex:
      if (type.item_size == 8) return body(TypeTag<std::complex<float>>());
      if (type.item_size == 16) return body(TypeTag<std::complex<double>>());
      break;
    default:
      if (type.is_numeric() && type.float_format == FloatFormat::ieee) {
        return with_real_type(type, body);
      }
  }
  throw Error("cannot compute with elements of the type " + type_name(type));
}

}  // namespace zarrcore
