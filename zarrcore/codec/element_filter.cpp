#include "zarrcore/codec/element_filter.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"
#include "zarrcore/codec/configuration.h"
#include "zarrcore/codec/numpy_arithmetic.h"
#include "zarrcore/dtype/dispatch.h"
#include "zarrcore/metadata/fill_value.h"

namespace zarrcore {
namespace {

// Returns `bytes`, elements of `type`, after swap_elements(), in `held` if that changes them.
ByteSpan swapped(ByteSpan bytes, const NumpyType& type, Buffer& held) {
  if (type.endian == kHostEndian) return bytes;
  held = Buffer::copy_of(bytes);
  swap_elements(held.span(), type);
  return held.span();
}

}  // namespace

void swap_elements(MutableByteSpan elements, const NumpyType& type) {
  if (type.endian == kHostEndian) return;
  // For types with a type string, all units have one size and fill the element.
  const std::vector<ByteUnit> units = byte_units(type.type);
  if (!units.empty()) swap_bytes(elements, units.front().size);
}

ElementFilter::ElementFilter(std::string name, NumpyType decoded, NumpyType encoded)
    : name_(std::move(name)), decoded_(std::move(decoded)), encoded_(std::move(encoded)) {}

std::optional<std::uint64_t> ElementFilter::encoded_size(std::uint64_t decoded_size) const {
  if (decoded_size % decoded_.type.item_size != 0) return std::nullopt;
  return checked_multiply(decoded_size / decoded_.type.item_size, encoded_.type.item_size);
}

std::uint64_t ElementFilter::max_decoded_size(ByteSpan encoded) const {
  return checked_multiply(encoded.size() / encoded_.type.item_size, decoded_.type.item_size)
      .value_or(UINT64_MAX);
}

std::size_t ElementFilter::count_elements(ByteSpan bytes, const DataType& type) const {
  if (bytes.size() % type.item_size != 0) {
    throw Error(name_ + ": " + std::to_string(bytes.size()) +
                " bytes are not a whole number of elements of " + type_name(type));
  }
  return static_cast<std::size_t>(bytes.size() / type.item_size);
}

Buffer ElementFilter::encode(ByteSpan decoded) const {
  const std::size_t count = count_elements(decoded, decoded_.type);
  const auto size = checked_multiply(count, encoded_.type.item_size);
  if (!size) throw Error(name_ + ": too many elements");
  Buffer encoded(*size);
  Buffer held;
  const std::byte* elements = swapped(decoded, decoded_, held).data();
  encode_elements(elements, encoded.data(), count);
  check_held(elements, encoded.data(), count);
  swap_elements(encoded.span(), encoded_);
  return encoded;
}

void ElementFilter::check_held(const std::byte* decoded, const std::byte* encoded,
                               std::size_t count) const {
  const auto bound = tolerance();
  if (!bound) return;
  Buffer returned(count * decoded_.type.item_size);
  decode_elements(encoded, returned.data(), count);
  if (const auto i = find_lost_element(decoded_.type, decoded, returned.data(), count, *bound)) {
    const std::uint64_t offset = *i * decoded_.type.item_size;
    refuse(*i, decoded + offset, returned.data() + offset);
  }
}

void ElementFilter::refuse(std::size_t index, const std::byte* element,
                           const std::byte* returned) const {
  const auto text = [this](const std::byte* bytes) -> std::string {
    try {
      return excerpt(format_fill_value({bytes, bytes + decoded_.type.item_size}, decoded_.type));
    } catch (const Error&) {
      return "an invalid text";
    }
  };
  throw Error(name_ + ": element " + std::to_string(index) + " of the chunk is " + text(element) +
              ", which cannot be stored: it would become " + text(returned));
}

void ElementFilter::decode(ByteSpan encoded, MutableByteSpan decoded) const {
  const std::size_t count = count_elements(encoded, encoded_.type);
  check_size(name_ + ": ", max_decoded_size(encoded), decoded.size());
  Buffer held;
  decode_elements(swapped(encoded, encoded_, held).data(), decoded.data(), count);
  swap_elements(decoded, decoded_);
}

NumpyType numpy_type_option(const Json& configuration, std::string_view key,
                            const NumpyType& fallback) {
  const auto text = text_option(configuration, key);
  if (!text) {
    if (fallback.type.bits == 0) return fallback;
    throw Error("NumPy has no data type " + type_name(fallback.type));
  }
  const auto type = parse_numpy_name(*text);
  if (!type || type->type.is_long_double()) {
    throw Error("\"" + std::string(key) + "\" is \"" + *text +
                "\", which is not a data type of NumPy");
  }
  return *type;
}

namespace {

class ArrayFilter final : public ArrayToArrayCodec {
 public:
  ArrayFilter(std::unique_ptr<const Filter> filter, const ChunkSpec& spec, Endian input_endian)
      : filter_(std::move(filter)),
        decoded_{spec.data_type, input_endian},
        encoded_{filter_->encoded_type(), filter_->encoded_endian()},
        encoded_spec_{filter_->encoded_shape(spec.shape), filter_->encoded_type(), {}} {
    // Like zarr-python, which casts the fill value instead of filtering it.
    encoded_spec_.fill_value.resize(memory_size(encoded_spec_.data_type.item_size));
    if (spec.data_type == encoded_spec_.data_type) {
      encoded_spec_.fill_value = spec.fill_value;
    } else if (spec.data_type.is_numeric() && encoded_spec_.data_type.is_numeric()) {
      make_numpy_cast(spec.data_type, encoded_spec_.data_type)
          ->convert(spec.fill_value.data(), 0, encoded_spec_.fill_value.data(), 0, 1);
    }
  }

  const ChunkSpec& encoded_spec() const override { return encoded_spec_; }
  bool can_encode() const override { return filter_->can_encode(); }

  void encode(ByteSpan decoded, MutableByteSpan encoded) const override {
    Buffer held;
    const Buffer bytes = filter_->encode(swapped(decoded, decoded_, held));
    check_size("a filter makes ", bytes.size(), encoded.size());
    if (!bytes.empty()) std::memcpy(encoded.data(), bytes.data(), bytes.size());
    swap_elements(encoded, encoded_);
  }

  void decode(ByteSpan encoded, MutableByteSpan decoded) const override {
    Buffer held;
    filter_->decode(swapped(encoded, encoded_, held), decoded);
    swap_elements(decoded, decoded_);
  }

 private:
  std::unique_ptr<const Filter> filter_;
  NumpyType decoded_;
  NumpyType encoded_;
  ChunkSpec encoded_spec_;
};

}  // namespace

std::unique_ptr<const ArrayToArrayCodec> make_array_filter(std::unique_ptr<const Filter> filter,
                                                           const ChunkSpec& spec,
                                                           Endian input_endian) {
  return std::make_unique<ArrayFilter>(std::move(filter), spec, input_endian);
}

namespace {

// Exact also for the largest integers, where this type has a mantissa of 64 bits.
using Wide = long double;

class HeldCheck {
 public:
  explicit HeldCheck(const Tolerance& tolerance) : tolerance_(tolerance) {}

  template <typename T>
  bool is_held(T element, T returned) {
    if constexpr (IsComplex<T>::value) {
      return is_held(element.real(), returned.real()) && is_held(element.imag(), returned.imag());
    } else {
      if (tolerance_.accumulates) remember(static_cast<Wide>(element));
      if (element == returned) return true;
      const auto a = static_cast<Wide>(element);
      const auto b = static_cast<Wide>(returned);
      if (std::isnan(a) && std::isnan(b)) return true;
      if (!std::isfinite(a) || !std::isfinite(b)) return false;
      const Wide scale =
          tolerance_.accumulates ? largest_ * static_cast<Wide>(count_) : std::abs(a);
      return std::abs(a - b) <= tolerance_.absolute + tolerance_.relative * scale;
    }
  }

 private:
  void remember(Wide element) {
    ++count_;
    if (std::isfinite(element)) largest_ = std::max(largest_, std::abs(element));
  }

  Tolerance tolerance_;
  Wide largest_ = 0;
  std::size_t count_ = 0;
};

}  // namespace

double rounding_unit(const DataType& type) {
  if (type.kind != TypeKind::floating && type.kind != TypeKind::complex) return 0;
  const std::uint64_t size = type.kind == TypeKind::complex ? type.item_size / 2 : type.item_size;
  return std::ldexp(1.0, size == 2 ? -10 : size == 4 ? -23 : -52);
}

std::optional<std::size_t> find_lost_element(const DataType& type, const std::byte* elements,
                                             const std::byte* returned, std::size_t count,
                                             const Tolerance& tolerance) {
  return with_numeric_type(type.value_type(), [&](auto tag) -> std::optional<std::size_t> {
    using T = typename decltype(tag)::Type;
    HeldCheck check(tolerance);
    for (std::size_t i = 0; i < count; ++i) {
      if (!check.is_held(load_element<T>(elements + i * sizeof(T)),
                         load_element<T>(returned + i * sizeof(T)))) {
        return i;
      }
    }
    return std::nullopt;
  });
}

}  // namespace zarrcore
