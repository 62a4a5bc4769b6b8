#include "zarrcore/dtype/convert.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>
#include <utility>

#include "zarrcore/base/endian.h"
#include "zarrcore/dtype/elements.h"
#include "zarrcore/dtype/small_float.h"

namespace zarrcore {
namespace {

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

// Converts to the type that store_element() takes for an element of type T.
template <typename T, typename From>
auto to_value(From value) {
  if constexpr (IsComplex<T>::value) {
    using Part = typename T::value_type;
    if constexpr (IsComplex<From>::value) {
      return T(static_cast<Part>(value.real()), static_cast<Part>(value.imag()));
    } else {
      return T(static_cast<Part>(value), Part{0});
    }
  } else if constexpr (IsComplex<From>::value) {
    return to_value<T>(value.real());
  } else if constexpr (std::is_same_v<T, Bool> || std::is_same_v<T, Float16>) {
    return value;
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    return to_integer<T>(value);
  }
}

using Converter = std::unique_ptr<const ElementConverter>;

Converter make_plain_converter(const DataType& source, const DataType& destination) {
  return with_numeric_type(source, [&](auto from_tag) {
    return with_numeric_type(destination, [&](auto to_tag) {
      using From = typename decltype(from_tag)::Type;
      using To = typename decltype(to_tag)::Type;
      return make_element_converter([](const std::byte* from, std::byte* to) {
        store_element<To>(to_value<To>(load_element<From>(from)), to);
      });
    });
  });
}

// Two conversions one after the other, a batch of elements at a time.
class ChainedConverter final : public ElementConverter {
 public:
  ChainedConverter(Converter first, std::size_t middle_size, Converter second)
      : first_(std::move(first)),
        middle_size_(static_cast<std::ptrdiff_t>(middle_size)),
        second_(std::move(second)) {}

  void convert(const std::byte* source, std::ptrdiff_t source_stride, std::byte* destination,
               std::ptrdiff_t destination_stride, std::size_t count) const override {
    ElementBatch batch;
    for_each_batch(count, [&](std::size_t first, std::size_t size) {
      const auto offset = static_cast<std::ptrdiff_t>(first);
      first_->convert(source + offset * source_stride, source_stride, batch.bytes, middle_size_,
                      size);
      second_->convert(batch.bytes, middle_size_, destination + offset * destination_stride,
                       destination_stride, size);
    });
  }

 private:
  Converter first_;
  std::ptrdiff_t middle_size_;
  Converter second_;
};

// A float of one or two bytes.
struct SmallFloat {
  FloatFormat format;
  std::size_t size;

  float load(const std::byte* bytes) const {
    const auto bits = static_cast<std::uint16_t>(load_unsigned(bytes, size));
    return format == FloatFormat::ieee ? float16_to_float(bits) : decode_small_float(format, bits);
  }
  void store(double value, std::byte* bytes) const {
    store_unsigned(
        format == FloatFormat::ieee ? double_to_float16(value) : encode_small_float(format, value),
        size, bytes);
  }
};

// Returns true if the type, or each part of a complex one, is a float that C++ does not compute
// with.
bool is_small(const DataType& type) {
  return type.float_format != FloatFormat::ieee ||
         (type.kind == TypeKind::complex && type.item_size < sizeof(std::complex<float>));
}

// Small floats, or complex numbers of them, to elements of the same kind of floats.
Converter make_small_reader(const DataType& type) {
  if (type.kind == TypeKind::complex) {
    return make_element_converter(
        [part = SmallFloat{type.float_format, memory_size(type.item_size / 2)}](
            const std::byte* from, std::byte* to) {
          store_element<std::complex<float>>(
              std::complex(part.load(from), part.load(from + part.size)), to);
        });
  }
  return make_element_converter(
      [part = SmallFloat{type.float_format, memory_size(type.item_size)}](
          const std::byte* from, std::byte* to) { store_element<float>(part.load(from), to); });
}

// The inverse, from doubles.
Converter make_small_writer(const DataType& type) {
  if (type.kind == TypeKind::complex) {
    return make_element_converter(
        [part = SmallFloat{type.float_format, memory_size(type.item_size / 2)}](
            const std::byte* from, std::byte* to) {
          const auto value = load_element<std::complex<double>>(from);
          part.store(value.real(), to);
          part.store(value.imag(), to + part.size);
        });
  }
  return make_element_converter(
      [part = SmallFloat{type.float_format, memory_size(type.item_size)}](
          const std::byte* from, std::byte* to) { part.store(load_element<double>(from), to); });
}

// Long doubles, or complex numbers of them, to elements of doubles. They are only read.
Converter make_long_double_reader(const DataType& type) {
  return make_element_converter(
      [format = type.float_format, is_complex = type.kind == TypeKind::complex](
          const std::byte* from, std::byte* to) {
        store_element<double>(decode_long_double(format, from), to);
        if (is_complex) {
          store_element<double>(decode_long_double(format, from + 16), to + sizeof(double));
        }
      });
}

// Integers of a byte to the range of fewer bits.
Converter make_narrow_integer_clamp(const DataType& type) {
  const bool is_signed = type.kind == TypeKind::signed_integer;
  const int low = is_signed ? -(1 << (type.bits - 1)) : 0;
  const int high = (1 << (is_signed ? type.bits - 1 : type.bits)) - 1;
  return make_element_converter([=](const std::byte* from, std::byte* to) {
    const int value =
        is_signed ? load_element<std::int8_t>(from) : load_element<std::uint8_t>(from);
    *to = static_cast<std::byte>(std::clamp(value, low, high));
  });
}

}  // namespace

Converter chain_converters(Converter first, std::uint64_t middle_size, Converter second) {
  if (!first) return second;
  if (!second) return first;
  return std::make_unique<ChainedConverter>(std::move(first), memory_size(middle_size),
                                            std::move(second));
}

Converter make_numeric_converter(const DataType& source, const DataType& destination) {
  if (source == destination || !source.is_numeric() || !destination.is_numeric()) return nullptr;
  if (destination.is_long_double()) return nullptr;
  // The parts of what small numbers are converted through.
  const auto through = [](const DataType& type, std::uint64_t part_size) {
    return DataType{type.kind, type.kind == TypeKind::complex ? 2 * part_size : part_size};
  };
  if (source.is_long_double()) {
    const DataType value = through(source, sizeof(double));
    return chain_converters(make_long_double_reader(source), value.item_size,
                            make_numeric_converter(value, destination));
  }
  if (is_small(source)) {
    const DataType value = through(source, sizeof(float));
    return chain_converters(make_small_reader(source), value.item_size,
                            make_numeric_converter(value, destination));
  }
  if (is_small(destination)) {
    const DataType value = through(destination, sizeof(double));
    return chain_converters(make_numeric_converter(source, value), value.item_size,
                            make_small_writer(destination));
  }
  if (destination.bits == 0) return make_plain_converter(source, destination);
  return chain_converters(make_plain_converter(source, {destination.kind, destination.item_size}),
                          1, make_narrow_integer_clamp(destination));
}

}  // namespace zarrcore
