// The `scale_offset` codec (zarr-extensions): stored = (x - offset) * scale, computed step by step
// in the array's own type. Integers must be exact in both directions: an overflow, and a quotient
// with a remainder, is an error.
#include <cmath>
#include <concepts>
#include <limits>
#include <optional>

#include "zarrcore/base/error.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/element_codec.h"
#include "zarrcore/dtype/convert.h"
#include "zarrcore/dtype/element_converter.h"
#include "zarrcore/metadata/fill_value.h"

namespace zarrcore {
namespace {

template <std::integral T>
class IntegerCodec final : public ElementCodec {
 public:
  IntegerCodec(const ChunkSpec& spec, T offset, T scale)
      : ElementCodec(spec, spec.data_type),
        name_(type_name(spec.data_type)),
        offset_(offset),
        scale_(scale) {
    if (const int bits = spec.data_type.bits; bits != 0) {
      high_ = static_cast<T>((1 << (bits - std::signed_integral<T>)) - 1);
      low_ = static_cast<T>(std::signed_integral<T> ? -high_ - 1 : 0);
    }
  }

 private:
  void encode_elements(const std::byte* decoded, std::byte* encoded,
                       std::size_t count) const override {
    transform_elements<T>(decoded, encoded, count, [this](T x) {
      const auto difference = subtract(x);
      const auto product = difference ? multiply(*difference) : std::nullopt;
      if (product) return *product;
      throw Error("scale_offset: (" + std::to_string(x) + " - " + std::to_string(offset_) + ") * " +
                  std::to_string(scale_) + " does not fit the data type " + name_);
    });
  }

  void decode_elements(const std::byte* encoded, std::byte* decoded,
                       std::size_t count) const override {
    transform_elements<T>(encoded, decoded, count, [this](T x) {
      const auto quotient = divide(x);
      const auto sum = quotient ? add(*quotient) : std::nullopt;
      if (sum) return *sum;
      throw Error("scale_offset: " + std::to_string(x) + " / " + std::to_string(scale_) + " + " +
                  std::to_string(offset_) + " is not a number of the data type " + name_);
    });
  }

  // Each returns nullopt when the result is not between low_ and high_. Intermediate values are as
  // well, or have a wider type to which the operands are promoted.
  std::optional<T> subtract(T x) const {
    if (offset_ > 0 ? x < low_ + offset_ : x > high_ + offset_) return std::nullopt;
    return static_cast<T>(x - offset_);
  }
  std::optional<T> add(T x) const {
    if (offset_ > 0 ? x > high_ - offset_ : x < low_ - offset_) return std::nullopt;
    return static_cast<T>(x + offset_);
  }
  std::optional<T> multiply(T x) const {
    if (x == 0) return T{0};
    const bool overflows = x > 0 ? (scale_ > 0 ? x > high_ / scale_ : scale_ < low_ / x)
                                 : (scale_ > 0 ? x < low_ / scale_ : x < high_ / scale_);
    if (overflows) return std::nullopt;
    return static_cast<T>(x * scale_);
  }
  std::optional<T> divide(T x) const {
    // The only quotient that overflows is the lowest value divided by -1, which has no remainder.
    if constexpr (std::signed_integral<T>) {
      if (scale_ == -1) return x == low_ ? std::nullopt : std::optional(static_cast<T>(-x));
    }
    if (x % scale_ != 0) return std::nullopt;
    return static_cast<T>(x / scale_);
  }

  std::string name_;
  T offset_;
  T scale_;
  T low_ = std::numeric_limits<T>::min();
  T high_ = std::numeric_limits<T>::max();
};

template <std::floating_point T>
class FloatCodec final : public ElementCodec {
 public:
  FloatCodec(const ChunkSpec& spec, T offset, T scale)
      : ElementCodec(spec, spec.data_type), offset_(offset), scale_(scale) {}

 private:
  void encode_elements(const std::byte* decoded, std::byte* encoded,
                       std::size_t count) const override {
    transform_elements<T>(decoded, encoded, count, [this](T x) { return (x - offset_) * scale_; });
  }

  void decode_elements(const std::byte* encoded, std::byte* decoded,
                       std::size_t count) const override {
    if (offset_ == 0) {  // -0.0 + 0.0 is 0.0
      transform_elements<T>(encoded, decoded, count, [this](T x) { return x / scale_; });
    } else {
      transform_elements<T>(encoded, decoded, count, [this](T x) { return x / scale_ + offset_; });
    }
  }

  T offset_;
  T scale_;
};

// Floats of two bytes and less. Rounding the result of an operation to double first does not change
// the final rounding to their type: double has more than twice their precision.
class SmallFloatCodec final : public ElementCodec {
 public:
  SmallFloatCodec(const ChunkSpec& spec, double offset, double scale)
      : ElementCodec(spec, spec.data_type),
        size_(static_cast<std::ptrdiff_t>(spec.data_type.item_size)),
        widen_(make_numeric_converter(spec.data_type, float64())),
        narrow_(make_numeric_converter(float64(), spec.data_type)),
        offset_(offset),
        scale_(scale) {}

 private:
  static DataType float64() { return {TypeKind::floating, sizeof(double)}; }

  void encode_elements(const std::byte* decoded, std::byte* encoded,
                       std::size_t count) const override {
    compute(
        decoded, encoded, count, [this](double x) { return x - offset_; },
        [this](double x) { return x * scale_; });
  }

  void decode_elements(const std::byte* encoded, std::byte* decoded,
                       std::size_t count) const override {
    compute(
        encoded, decoded, count, [this](double x) { return x / scale_; },
        [this](double x) { return offset_ == 0 ? x : x + offset_; });
  }

  template <typename First, typename Second>
  void compute(const std::byte* source, std::byte* destination, std::size_t count,
               const First& first, const Second& second) const {
    ElementBatch batch;
    for_each_batch(count, [&](std::size_t start, std::size_t size) {
      const auto offset = static_cast<std::ptrdiff_t>(start) * size_;
      const auto round = [&](const std::byte* elements, const auto& step) {
        widen_->convert(elements, size_, batch.bytes, kStride, size);
        transform_elements<double>(batch.bytes, batch.bytes, size, step);
        narrow_->convert(batch.bytes, kStride, destination + offset, size_, size);
      };
      round(source + offset, first);
      round(destination + offset, second);
    });
  }

  static constexpr std::ptrdiff_t kStride = sizeof(double);

  std::ptrdiff_t size_;
  std::unique_ptr<const ElementConverter> widen_;
  std::unique_ptr<const ElementConverter> narrow_;
  double offset_;
  double scale_;
};

// The number `key` of the configuration as an element, or nullopt when it is missing.
std::optional<std::vector<std::byte>> number_option(const Json& configuration, std::string_view key,
                                                    const DataType& type) {
  const Json* member = find_member(configuration, key);
  if (member == nullptr || member->is_null()) return std::nullopt;
  try {
    return parse_fill_value(*member, type);
  } catch (const Error&) {
    throw Error("\"" + std::string(key) + "\" is " + excerpt(*member) +
                ", which is not a number of the data type " + type_name(type));
  }
}

template <typename T>
T number_or(const std::optional<std::vector<std::byte>>& element, T fallback) {
  return element ? load_element<T>(element->data()) : fallback;
}

void check_scale(bool is_usable) {
  if (!is_usable) throw Error("an array scaled by that \"scale\" could not be read again");
}

std::unique_ptr<ElementCodec> make_codec(const Json& configuration, const ChunkSpec& spec) {
  const DataType& type = spec.data_type;
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
    check_scale(std::isfinite(wide(scale, 1)) && wide(scale, 1) != 0);
    return std::make_unique<SmallFloatCodec>(spec, wide(offset, 0), wide(scale, 1));
  }
  return with_real_type(type, [&](auto tag) -> std::unique_ptr<ElementCodec> {
    using T = typename decltype(tag)::Type;
    if constexpr (std::integral<T>) {
      check_scale(number_or<T>(scale, 1) != 0);
      return std::make_unique<IntegerCodec<T>>(spec, number_or<T>(offset, 0),
                                               number_or<T>(scale, 1));
    } else if constexpr (std::floating_point<T>) {
      check_scale(std::isfinite(number_or<T>(scale, 1)) && number_or<T>(scale, 1) != 0);
      return std::make_unique<FloatCodec<T>>(spec, number_or<T>(offset, 0), number_or<T>(scale, 1));
    } else {
      throw not_real_numbers(type);  // Float16, which is a small float above
    }
  });
}

}  // namespace

Codec make_scale_offset(const Json& configuration, const ChunkSpec& spec) {
  const TypeKind kind = spec.data_type.kind;
  if (kind != TypeKind::signed_integer && kind != TypeKind::unsigned_integer &&
      kind != TypeKind::floating) {
    throw not_real_numbers(spec.data_type);
  }
  auto codec = make_codec(configuration, spec);
  codec->encode_fill_value(spec);
  return codec;
}

}  // namespace zarrcore
