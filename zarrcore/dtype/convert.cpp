#include "zarrcore/dtype/convert.h"

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "zarrcore/dtype/float16.h"

namespace zarrcore {
namespace {

// Types of elements that C++ has no type of its own for.
struct Bool {
  std::uint8_t value;
};
struct Float16 {
  std::uint16_t bits;
};

// What an element is computed with: itself, or the type that holds its value.
template <typename T>
auto load(const std::byte* bytes) {
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

template <typename T>
struct IsComplex : std::false_type {};
template <typename T>
struct IsComplex<std::complex<T>> : std::true_type {};

template <typename Integer, typename From>
Integer to_integer(From value) {
  using Limits = std::numeric_limits<Integer>;
  if constexpr (std::is_floating_point_v<From>) {
    if (std::isnan(value)) return 0;
    const From rounded = std::round(value);
    // 2^digits is exact in every float type, Limits::max() is not.
    if (rounded >= std::ldexp(From{1}, Limits::digits)) return Limits::max();
    if (rounded < static_cast<From>(Limits::min())) return Limits::min();
    return static_cast<Integer>(rounded);
  } else {
    if (std::cmp_less(value, Limits::min())) return Limits::min();
    if (std::cmp_greater(value, Limits::max())) return Limits::max();
    return static_cast<Integer>(value);
  }
}

template <typename T, typename From>
T to_element(From value) {
  if constexpr (IsComplex<T>::value) {
    using Part = typename T::value_type;
    if constexpr (IsComplex<From>::value) {
      return {static_cast<Part>(value.real()), static_cast<Part>(value.imag())};
    } else {
      return {static_cast<Part>(value), Part{0}};
    }
  } else if constexpr (IsComplex<From>::value) {
    return to_element<T>(value.real());
  } else if constexpr (std::is_same_v<T, Bool>) {
    return {static_cast<std::uint8_t>(value != From{0})};
  } else if constexpr (std::is_same_v<T, Float16>) {
    return {double_to_float16(static_cast<double>(value))};
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    return to_integer<T>(value);
  }
}

template <typename From, typename To>
class NumericConverter final : public ElementConverter {
 public:
  void convert(const std::byte* source, std::ptrdiff_t source_stride, std::byte* destination,
               std::ptrdiff_t destination_stride, std::size_t count) const override {
    for (std::size_t i = 0; i < count; ++i) {
      const To element = to_element<To>(load<From>(source));
      std::memcpy(destination, &element, sizeof(To));
      source += source_stride;
      destination += destination_stride;
    }
  }
};

template <typename T>
struct Tag {
  using Type = T;
};

// Calls `body` with the tag of the C++ type of a numeric data type.
template <typename Body>
std::unique_ptr<const ElementConverter> with_type(const DataType& type, const Body& body) {
  switch (type.kind) {
    case TypeKind::boolean:
      return body(Tag<Bool>());
    case TypeKind::signed_integer:
      switch (type.item_size) {
        case 1:
          return body(Tag<std::int8_t>());
        case 2:
          return body(Tag<std::int16_t>());
        case 4:
          return body(Tag<std::int32_t>());
        default:
          return body(Tag<std::int64_t>());
      }
    case TypeKind::unsigned_integer:
      switch (type.item_size) {
        case 1:
          return body(Tag<std::uint8_t>());
        case 2:
          return body(Tag<std::uint16_t>());
        case 4:
          return body(Tag<std::uint32_t>());
        default:
          return body(Tag<std::uint64_t>());
      }
    case TypeKind::floating:
      switch (type.item_size) {
        case 2:
          return body(Tag<Float16>());
        case 4:
          return body(Tag<float>());
        default:
          return body(Tag<double>());
      }
    case TypeKind::complex:
      return type.item_size == 8 ? body(Tag<std::complex<float>>())
                                 : body(Tag<std::complex<double>>());
    default:
      return nullptr;
  }
}

}  // namespace

std::unique_ptr<const ElementConverter> make_numeric_converter(const DataType& source,
                                                               const DataType& destination) {
  if (source == destination) return nullptr;
  return with_type(source, [&](auto from) {
    return with_type(destination, [&](auto to) -> std::unique_ptr<const ElementConverter> {
      return std::make_unique<
          NumericConverter<typename decltype(from)::Type, typename decltype(to)::Type>>();
    });
  });
}

}  // namespace zarrcore
