#include "zarrcore/codec/element_codec.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/numpy_arithmetic.h"
#include "zarrcore/dtype/elements.h"
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

// Exact also for the largest integers, where this type has a mantissa of 64 bits.
using Wide = long double;

class ToleranceCheck {
 public:
  explicit ToleranceCheck(const Tolerance& tolerance) : tolerance_(tolerance) {}

  template <typename T>
  bool is_within(T element, T returned) {
    if constexpr (IsComplex<T>::value) {
      return is_within(element.real(), returned.real()) &&
             is_within(element.imag(), returned.imag());
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

// The first of `count` elements that differs from its counterpart in `returned` by more than the
// tolerance.
std::optional<std::size_t> find_lost_element(const DataType& type, const std::byte* elements,
                                             const std::byte* returned, std::size_t count,
                                             const Tolerance& tolerance) {
  return with_numeric_type(type.value_type(), [&](auto tag) -> std::optional<std::size_t> {
    using T = typename decltype(tag)::Type;
    ToleranceCheck check(tolerance);
    for (std::size_t i = 0; i < count; ++i) {
      if (!check.is_within(load_element<T>(elements + i * sizeof(T)),
                           load_element<T>(returned + i * sizeof(T)))) {
        return i;
      }
    }
    return std::nullopt;
  });
}

class FilterOfElements final : public Filter {
 public:
  explicit FilterOfElements(ElementFilter filter) : filter_(std::move(filter)) {}

  std::optional<std::uint64_t> encoded_size(std::uint64_t decoded_size) const override {
    if (decoded_size % decoded_item() != 0) return std::nullopt;
    return checked_multiply(decoded_size / decoded_item(), encoded_item());
  }
  std::uint64_t max_decoded_size(ByteSpan encoded) const override {
    return checked_multiply(encoded.size() / encoded_item(), decoded_item()).value_or(UINT64_MAX);
  }

  Buffer encode(ByteSpan decoded) const override {
    const std::size_t count = count_elements(decoded, filter_.decoded.type);
    const auto size = checked_multiply(count, encoded_item());
    if (!size) throw Error(name() + ": too many elements");
    Buffer encoded(*size);
    Buffer held;
    const std::byte* elements = swapped(decoded, filter_.decoded, held).data();
    filter_.encode(elements, encoded.data(), count);
    check_restored(elements, encoded.data(), count);
    swap_elements(encoded.span(), filter_.encoded);
    return encoded;
  }

  void decode(ByteSpan encoded, MutableByteSpan decoded) const override {
    const std::size_t count = count_elements(encoded, filter_.encoded.type);
    check_size(name() + ": ", max_decoded_size(encoded), decoded.size());
    Buffer held;
    filter_.decode(swapped(encoded, filter_.encoded, held).data(), decoded.data(), count);
    swap_elements(decoded, filter_.decoded);
  }

  std::string name() const override { return filter_.name; }
  DataType encoded_type() const override { return filter_.encoded.type; }
  Endian encoded_endian() const override { return filter_.encoded.endian; }

 private:
  std::uint64_t decoded_item() const { return filter_.decoded.type.item_size; }
  std::uint64_t encoded_item() const { return filter_.encoded.type.item_size; }

  // The number of elements of `type` in `bytes`. Throws Error when it is not whole.
  std::size_t count_elements(ByteSpan bytes, const DataType& type) const {
    if (bytes.size() % type.item_size != 0) {
      throw Error(name() + ": " + std::to_string(bytes.size()) +
                  " bytes are not a whole number of elements of " + type_name(type));
    }
    return static_cast<std::size_t>(bytes.size() / type.item_size);
  }

  void check_restored(const std::byte* decoded, const std::byte* encoded, std::size_t count) const {
    if (!filter_.tolerance) return;
    const DataType& type = filter_.decoded.type;
    Buffer returned(count * type.item_size);
    filter_.decode(encoded, returned.data(), count);
    if (const auto i =
            find_lost_element(type, decoded, returned.data(), count, *filter_.tolerance)) {
      const std::uint64_t offset = *i * type.item_size;
      refuse_element(name(), type, *i, decoded + offset, returned.data() + offset);
    }
  }

  ElementFilter filter_;
};

class ElementCodec final : public ArrayToArrayCodec {
 public:
  ElementCodec(const ChunkSpec& spec, const DataType& encoded, ElementLoop encode,
               ElementLoop decode)
      : decoded_size_(memory_size(spec.data_type.item_size)),
        encoded_spec_(spec_with_zero(spec.shape, encoded)),
        encode_(std::move(encode)),
        decode_(std::move(decode)) {
    with_context("the fill value",
                 [&] { encode_(spec.fill_value.data(), encoded_spec_.fill_value.data(), 1); });
  }

  const ChunkSpec& encoded_spec() const override { return encoded_spec_; }

  void encode(ByteSpan decoded, MutableByteSpan encoded) const override {
    encode_(decoded.data(), encoded.data(), decoded.size() / decoded_size_);
  }
  void decode(ByteSpan encoded, MutableByteSpan decoded) const override {
    decode_(encoded.data(), decoded.data(), decoded.size() / decoded_size_);
  }

 private:
  std::size_t decoded_size_;
  ChunkSpec encoded_spec_;
  ElementLoop encode_;
  ElementLoop decode_;
};

class ConvertingCodec final : public ArrayToBytesCodec {
 public:
  ConvertingCodec(std::uint64_t inner_bytes, Codec inner, ChunkConversion encode,
                  ChunkConversion decode)
      : inner_bytes_(inner_bytes),
        inner_(std::move(std::get<std::unique_ptr<const ArrayToBytesCodec>>(inner))),
        encode_(std::move(encode)),
        decode_(std::move(decode)) {}

  std::uint64_t max_encoded_size() const override { return inner_->max_encoded_size(); }

  Buffer encode(ByteSpan decoded) const override {
    Buffer elements(inner_bytes_);
    Arena arena;
    encode_(decoded, elements.span(), arena);
    return inner_->encode(elements.span());
  }

  void decode(ByteSpan encoded, MutableByteSpan decoded, Arena& arena) const override {
    Buffer elements(inner_bytes_);
    Arena held;
    inner_->decode(encoded, elements.span(), held);
    decode_(elements.span(), decoded, arena);
  }

 private:
  std::uint64_t inner_bytes_;
  std::unique_ptr<const ArrayToBytesCodec> inner_;
  ChunkConversion encode_;
  ChunkConversion decode_;
};

class ArrayFilter final : public ArrayToArrayCodec {
 public:
  ArrayFilter(std::unique_ptr<const Filter> filter, const ChunkSpec& spec, Endian input_endian)
      : filter_(std::move(filter)),
        decoded_{spec.data_type, input_endian},
        encoded_{filter_->encoded_type(), filter_->encoded_endian()},
        encoded_spec_(spec_with_zero(filter_->encoded_shape(spec.shape), encoded_.type)) {
    // Like zarr-python, which casts the fill value instead of filtering it.
    if (spec.data_type == encoded_.type) {
      encoded_spec_.fill_value = spec.fill_value;
    } else if (spec.data_type.is_numeric() && encoded_.type.is_numeric()) {
      make_numpy_cast(spec.data_type, encoded_.type)
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

double rounding_unit(const DataType& type) {
  if (type.kind != TypeKind::floating && type.kind != TypeKind::complex) return 0;
  const std::uint64_t size = type.kind == TypeKind::complex ? type.item_size / 2 : type.item_size;
  return std::ldexp(1.0, size == 2 ? -10 : size == 4 ? -23 : -52);
}

Codec make_element_filter(ElementFilter filter) {
  return std::unique_ptr<const Filter>(std::make_unique<FilterOfElements>(std::move(filter)));
}

void refuse_element(std::string_view name, const DataType& type, std::size_t index,
                    const std::byte* element, const std::byte* returned) {
  const auto text = [&type](const std::byte* bytes) -> std::string {
    try {
      return excerpt(format_fill_value({bytes, bytes + type.item_size}, type));
    } catch (const Error&) {
      return "an invalid text";
    }
  };
  throw Error(std::string(name) + ": element " + std::to_string(index) + " of the chunk is " +
              text(element) + ", which cannot be stored: it would become " + text(returned));
}

Codec make_element_codec(const ChunkSpec& spec, const DataType& encoded, ElementLoop encode,
                         ElementLoop decode) {
  return std::make_unique<ElementCodec>(spec, encoded, std::move(encode), std::move(decode));
}

Codec make_converting_codec(const ChunkSpec& spec, std::size_t inner_size, Codec inner,
                            ChunkConversion encode, ChunkConversion decode) {
  const std::uint64_t count = spec.byte_count() / spec.data_type.item_size;
  return std::make_unique<ConvertingCodec>(count * inner_size, std::move(inner), std::move(encode),
                                           std::move(decode));
}

void swap_elements(MutableByteSpan elements, const NumpyType& type) {
  if (type.endian == kHostEndian) return;
  // For types with a type string, all units have one size and fill the element.
  const std::vector<ByteUnit> units = byte_units(type.type);
  if (!units.empty()) swap_bytes(elements, units.front().size);
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

std::unique_ptr<const ArrayToArrayCodec> make_array_filter(std::unique_ptr<const Filter> filter,
                                                           const ChunkSpec& spec,
                                                           Endian input_endian) {
  return std::make_unique<ArrayFilter>(std::move(filter), spec, input_endian);
}

}  // namespace zarrcore
