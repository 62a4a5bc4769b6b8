// Code that computes with elements one by one: their types in C++, selected by a data type at run
// time, loops over them, and converters that are such loops.
#pragma once

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>

#include "zarrcore/base/error.h"
#include "zarrcore/base/strided.h"
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

// Calls `body` with the TypeTag of the first of several types that has `size` bytes; of the last
// one if none has.
template <typename First, typename... Others, typename Body>
auto with_size(std::uint64_t size, const Body& body) {
  if constexpr (sizeof...(Others) > 0) {
    if (size != sizeof(First)) return with_size<Others...>(size, body);
  }
  return body(TypeTag<First>());
}

// Calls `body` with the TypeTag of a type of real numbers: an integer, Float16, float or double.
// Throws Error for other types and for float formats other than IEEE's.
template <typename Body>
auto with_real_type(const DataType& type, const Body& body) {
  switch (type.kind) {
    case TypeKind::signed_integer:
      return with_size<std::int8_t, std::int16_t, std::int32_t, std::int64_t>(type.item_size, body);
    case TypeKind::unsigned_integer:
      return with_size<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>(type.item_size,
                                                                                  body);
    case TypeKind::floating:
      if (type.float_format != FloatFormat::ieee) break;
      return with_size<Float16, float, double>(type.item_size, body);
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

// The work of ElementConverter::convert().
using ConversionLoop = void (*)(const std::byte* source, std::ptrdiff_t source_stride,
                                std::byte* destination, std::ptrdiff_t destination_stride,
                                std::size_t count);

// A converter that is a loop without state. Hundreds of loops share this class, which keeps builds
// short.
class LoopConverter final : public ElementConverter {
 public:
  explicit LoopConverter(ConversionLoop loop) : loop_(loop) {}

  void convert(const std::byte* source, std::ptrdiff_t source_stride, std::byte* destination,
               std::ptrdiff_t destination_stride, std::size_t count) const override {
    loop_(source, source_stride, destination, destination_stride, count);
  }

 private:
  ConversionLoop loop_;
};

template <typename Convert>
void convert_each(const Convert& convert, const std::byte* source, std::ptrdiff_t source_stride,
                  std::byte* destination, std::ptrdiff_t destination_stride, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    convert(source, destination);
    source += source_stride;
    destination += destination_stride;
  }
}

// Makes a converter that calls `convert(source, destination)` with the address of each element and
// of its destination, neither of which need be aligned.
template <typename Convert>
std::unique_ptr<const ElementConverter> make_element_converter(Convert convert) {
  if constexpr (std::is_empty_v<Convert>) {
    return std::make_unique<LoopConverter>(
        [](const std::byte* source, std::ptrdiff_t source_stride, std::byte* destination,
           std::ptrdiff_t destination_stride, std::size_t count) {
          convert_each(Convert(), source, source_stride, destination, destination_stride, count);
        });
  } else {
    class Converter final : public ElementConverter {
     public:
      explicit Converter(Convert convert) : convert_(std::move(convert)) {}

      void convert(const std::byte* source, std::ptrdiff_t source_stride, std::byte* destination,
                   std::ptrdiff_t destination_stride, std::size_t count) const override {
        convert_each(convert_, source, source_stride, destination, destination_stride, count);
      }

     private:
      Convert convert_;
    };
    return std::make_unique<Converter>(std::move(convert));
  }
}

// Puts `compute(x)` for each of the `count` elements x of type T at `source` to `destination`, in
// order. Both are arrays of T, which need not be aligned and may be the same.
template <typename T, typename Compute>
void transform_elements(const std::byte* source, std::byte* destination, std::size_t count,
                        Compute compute) {
  for (std::size_t i = 0; i < count; ++i) {
    store_element<T>(compute(load_element<T>(source + i * sizeof(T))), destination + i * sizeof(T));
  }
}

// Memory for the elements of a step of for_each_batch(), of any type to compute with.
inline constexpr std::size_t kBatchElements = 256;
struct ElementBatch {
  std::byte bytes[kBatchElements * sizeof(std::complex<double>)];
};

// Calls `body(first, size)` for `count` elements, a batch of at most kBatchElements at a time: so
// many that a step between two conversions finds them in the fastest cache.
template <typename Body>
void for_each_batch(std::size_t count, const Body& body) {
  for (std::size_t first = 0; first < count; first += kBatchElements) {
    body(first, std::min(kBatchElements, count - first));
  }
}

}  // namespace zarrcore
