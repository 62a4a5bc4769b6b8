// The `scale_offset` codec (zarr-extensions): stored = (x - offset) * scale, computed step by step
// in the array's own type. Integers must be exact in both directions: an overflow, and a quotient
// with a remainder, is an error.
#include <cmath>
#include <concepts>
#include <limits>
#include <memory>
#include <optional>

#include "zarrcore/base/error.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/element_codec.h"
#include "zarrcore/dtype/convert.h"
#include "zarrcore/dtype/elements.h"
#include "zarrcore/metadata/fill_value.h"

namespace zarrcore {
namespace {

// Each function returns nullopt when the result is not between `low` and `high`. Intermediate
// values are as well, or have a wider type to which the operands are promoted.
template <std::integral T>
struct IntegerScaling {
  T offset;
  T scale;
  T low = std::numeric_limits<T>::min();
  T high = std::numeric_limits<T>::max();

  std::optional<T> subtract(T x) const {
    if (offset > 0 ? x < low + offset : x > high + offset) return std::nullopt;
    return static_cast<T>(x - offset);
  }
  std::optional<T> add(T x) const {
    if (offset > 0 ? x > high - offset : x < low - offset) return std::nullopt;
    return static_cast<T>(x + offset);
  }
  std::optional<T> multiply(T x) const {
    if (x == 0) return T{0};
    const bool overflows = x > 0 ? (scale > 0 ? x > high / scale : scale < low / x)
                                 : (scale > 0 ? x < low / scale : x < high / scale);
    if (overflows) return std::nullopt;
    return static_cast<T>(x * scale);
  }
  std::optional<T> divide(T x) const {
    // The only quotient that overflows is the lowest value divided by -1, which has no remainder.
    if constexpr (std::signed_integral<T>) {
      if (scale == -1) return x == low ? std::nullopt : std::optional(static_cast<T>(-x));
    }
    if (x % scale != 0) return std::nullopt;
    return static_cast<T>(x / scale);
  }
};

void check_scale(bool is_usable) {
  if (!is_usable) throw Error("an array scaled by that \"scale\" could not be read again");
}

template <std::integral T>
Codec make_integer_codec(const ChunkSpec& spec, T offset, T scale) {
  check_scale(scale != 0);
  IntegerScaling<T> scaling{offset, scale};
  if (const int bits = spec.data_type.bits; bits != 0) {
    scaling.high = static_cast<T>((1 << (bits - std::signed_integral<T>)) - 1);
    scaling.low = static_cast<T>(std::signed_integral<T> ? -scaling.high - 1 : 0);
  }
  const std::string type = type_name(spec.data_type);
  return make_element_codec(
      spec, spec.data_type,
      [=](const std::byte* decoded, std::byte* encoded, std::size_t count) {
        transform_elements<T>(decoded, encoded, count, [&, scaling = scaling](T x) {
          const auto difference = scaling.subtract(x);
          const auto product = difference ? scaling.multiply(*difference) : std::nullopt;
          if (product) return *product;
          throw Error("scale_offset: (" + std::to_string(x) + " - " + std::to_string(offset) +
                      ") * " + std::to_string(scale) + " does not fit the data type " + type);
        });
      },
      [=](const std::byte* encoded, std::byte* decoded, std::size_t count) {
        transform_elements<T>(encoded, decoded, count, [&, scaling = scaling](T x) {
          const auto quotient = scaling.divide(x);
          const auto sum = quotient ? scaling.add(*quotient) : std::nullopt;
          if (sum) return *sum;
          throw Error("scale_offset: " + std::to_string(x) + " / " + std::to_string(scale) + " + " +
                      std::to_string(offset) + " is not a number of the data type " + type);
        });
      });
}

template <std::floating_point T>
Codec make_float_codec(const ChunkSpec& spec, T offset, T scale) {
  check_scale(std::isfinite(scale) && scale != 0);
  return make_element_codec(
      spec, spec.data_type,
      [=](const std::byte* decoded, std::byte* encoded, std::size_t count) {
        transform_elements<T>(decoded, encoded, count, [=](T x) { return (x - offset) * scale; });
      },
      [=](const std::byte* encoded, std::byte* decoded, std::size_t count) {
        if (offset == 0) {  // -0.0 + 0.0 is 0.0
          transform_elements<T>(encoded, decoded, count, [=](T x) { return x / scale; });
        } else {
          transform_elements<T>(encoded, decoded, count, [=](T x) { return x / scale + offset; });
        }
      });
}

// Two operations with floats of two bytes and less, each of which rounds to their type. Rounding a
// result to double first does not change that: double has more than twice their precision.
template <typename First, typename Second>
ElementLoop small_float_loop(const DataType& type, const First& first, const Second& second) {
  const DataType float64{TypeKind::floating, sizeof(double)};
  const std::shared_ptr<const ElementConverter> widen = make_numeric_converter(type, float64);
  const std::shared_ptr<const ElementConverter> narrow = make_numeric_converter(float64, type);
  const auto item = static_cast<std::ptrdiff_t>(type.item_size);
  return [=](const std::byte* from, std::byte* to, std::size_t count) {
    constexpr std::ptrdiff_t kStride = sizeof(double);
    ElementBatch batch;
    for_each_batch(count, [&](std::size_t start, std::size_t size) {
      const std::ptrdiff_t offset = static_cast<std::ptrdiff_t>(start) * item;
      const auto run = [&](const std::byte* elements, const auto& operation) {
        widen->convert(elements, item, batch.bytes, kStride, size);
        transform_elements<double>(batch.bytes, batch.bytes, size, operation);
        narrow->convert(batch.bytes, kStride, to + offset, item, size);
      };
      run(from + offset, first);
      run(to + offset, second);
    });
  };
}

Codec make_small_float_codec(const ChunkSpec& spec, double offset, double scale) {
  check_scale(std::isfinite(scale) && scale != 0);
  return make_element_codec(spec, spec.data_type,
                            small_float_loop(
                                spec.data_type, [=](double x) { return x - offset; },
                                [=](double x) { return x * scale; }),
                            small_float_loop(
                                spec.data_type, [=](double x) { return x / scale; },
                                [=](double x) { return offset == 0 ? x : x + offset; }));
}

// The number `key` of the configuration as an element, or nullopt when it is missing.
std::optional<std::vector<std::byte>> number_option(const Json& configuration, std::string_view key,
                                                    const DataType& type) {
  const Json* member = find_value(configuration, key);
  if (member == nullptr) return std::nullopt;
  try {
    return parse_fill_value(*member, type);
  } catch (const Error&) {
    throw Error("\"" + std::string(key) + "\" is " + excerpt(*member) +
                ", which is not a number of the data type " + type_name(type));
  }
}

}  // namespace

Codec make_scale_offset(const Json& configuration, const ChunkSpec& spec) {
  const DataType& type = spec.data_type;
  if (!type.is_integer() && type.kind != TypeKind::floating) throw not_real_numbers(type);
  const auto offset = number_option(configuration, "offset", type);
  const auto scale = number_option(configuration, "scale", type);
  if (type.kind == TypeKind::floating && type.item_size <= 2) {
    const auto widen = make_numeric_converter(type, {TypeKind::floating, sizeof(double)});
    const auto wide = [&](const auto& element, double fallback) {
      if (element) {
        widen->convert(element->data(), 0, reinterpret_cast<std::byte*>(&fallback), 0, 1);
      }
      return fallback;
    };
    return make_small_float_codec(spec, wide(offset, 0), wide(scale, 1));
  }
  return with_real_type(type, [&](auto tag) -> Codec {
    using T = typename decltype(tag)::Type;
    const auto number = [](const auto& element, ValueOf<T> fallback) {
      return element ? load_element<T>(element->data()) : fallback;
    };
    if constexpr (std::integral<T>) {
      return make_integer_codec<T>(spec, number(offset, 0), number(scale, 1));
    } else if constexpr (std::floating_point<T>) {
      return make_float_codec<T>(spec, number(offset, 0), number(scale, 1));
    } else {
      throw not_real_numbers(type);  // Float16, which is a small float above
    }
  });
}

}  // namespace zarrcore
