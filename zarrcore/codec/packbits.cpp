// The `packbits` codec (zarr-extensions): of each element the bits `first_bit` to `last_bit`,
// counted from the least significant one, packed without gaps from the least significant bit of the
// first byte on. The real and the imaginary part of a complex number count as two elements. Zero
// bits fill the last byte; `padding_encoding` may put their number into a byte before the others or
// after them. Bits that are not stored decode to zero, or to the sign for signed integers.
//
// And another format: the `packbits` filter of numcodecs, eight booleans to a byte, the first in
// the most significant bit, after a byte with the number of bits of padding in the last byte.
#include <algorithm>

#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/endian.h"
#include "zarrcore/base/error.h"
#include "zarrcore/codec/codec.h"

namespace zarrcore {
namespace {

constexpr unsigned kByte = 8;  // bits

enum class PaddingByte : std::uint8_t { none, first, last };

// A number in an element.
struct Component {
  std::size_t size = 0;  // bytes in memory
  unsigned bits = 0;     // that have a meaning
  bool is_signed = false;
};

Component component_of(const DataType& type) {
  const auto bits = static_cast<unsigned>(type.item_size * kByte);
  switch (type.kind) {
    case TypeKind::boolean:
      return {1, 1, false};
    case TypeKind::signed_integer:
    case TypeKind::datetime:
    case TypeKind::timedelta:
      return {memory_size(type.item_size), type.bits != 0 ? type.bits : bits, true};
    case TypeKind::unsigned_integer:
      return {memory_size(type.item_size), type.bits != 0 ? type.bits : bits, false};
    case TypeKind::complex:
      return component_of(type.part_type());
    case TypeKind::floating:
      switch (type.float_format) {
        case FloatFormat::float6_e2m3fn:
        case FloatFormat::float6_e3m2fn:
          return {1, 6, false};
        case FloatFormat::float4_e2m1fn:
          return {1, 4, false};
        default:
          return {memory_size(type.item_size), bits, false};
      }
    default:
      throw Error("elements of the type " + type_name(type) + " have no bits to pack");
  }
}

class PackbitsCodec final : public ArrayToBytesCodec {
 public:
  PackbitsCodec(const ChunkSpec& spec, const Component& component, unsigned first_bit,
                unsigned last_bit, PaddingByte padding_byte)
      : component_(component),
        first_bit_(first_bit),
        last_bit_(last_bit),
        padding_byte_(padding_byte) {
    const std::uint64_t numbers = spec.byte_count() / component_.size;
    const auto bits = checked_multiply(numbers, last_bit_ - first_bit_ + 1);
    if (!bits) throw Error("the chunk has too many elements");
    packed_size_ = memory_size(ceil_divide(*bits, kByte));
    padding_bits_ = static_cast<unsigned>(packed_size_ * kByte - *bits);
  }

  std::optional<std::uint64_t> encoded_size() const override { return max_encoded_size(); }
  std::uint64_t max_encoded_size() const override {
    return packed_size_ + (padding_byte_ == PaddingByte::none ? 0 : 1);
  }

  Buffer encode(ByteSpan decoded) const override {
    Buffer encoded(max_encoded_size());
    std::fill_n(encoded.data(), encoded.size(), std::byte{0});
    std::byte* byte = encoded.data() + (padding_byte_ == PaddingByte::first ? 1 : 0);
    unsigned used = 0;  // bits of the byte
    for (std::size_t i = 0; i < decoded.size(); i += component_.size) {
      std::uint64_t bits = load_unsigned(decoded.data() + i, component_.size) >> first_bit_;
      for (unsigned left = last_bit_ - first_bit_ + 1; left != 0;) {
        const unsigned taken = std::min(left, kByte - used);
        const std::uint64_t part = bits & ((1u << taken) - 1);
        *byte |= static_cast<std::byte>(part << used);
        bits >>= taken;
        left -= taken;
        used += taken;
        if (used == kByte) {
          ++byte;
          used = 0;
        }
      }
    }
    if (padding_byte_ == PaddingByte::first) *encoded.data() = std::byte(padding_bits_);
    if (padding_byte_ == PaddingByte::last) encoded.data()[packed_size_] = std::byte(padding_bits_);
    return encoded;
  }

  void decode(ByteSpan encoded, MutableByteSpan decoded, Arena& /*arena*/) const override {
    check_size("packbits: the chunk has ", encoded.size(), max_encoded_size());
    if (padding_byte_ != PaddingByte::none) {
      const bool is_first = padding_byte_ == PaddingByte::first;
      const auto stated = std::to_integer<unsigned>(is_first ? encoded.front() : encoded.back());
      if (stated != padding_bits_) {
        throw Error("packbits: the chunk states " + std::to_string(stated) +
                    " bits of padding where " + std::to_string(padding_bits_) + " are expected");
      }
      encoded = encoded.subspan(is_first ? 1 : 0, packed_size_);
    }
    const std::byte* byte = encoded.data();
    unsigned used = 0;
    for (std::size_t i = 0; i < decoded.size(); i += component_.size) {
      std::uint64_t bits = 0;
      for (unsigned at = first_bit_; at <= last_bit_;) {
        const unsigned taken = std::min(last_bit_ + 1 - at, kByte - used);
        const unsigned part = std::to_integer<unsigned>(*byte) >> used & ((1u << taken) - 1);
        bits |= std::uint64_t{part} << at;
        at += taken;
        used += taken;
        if (used == kByte) {
          ++byte;
          used = 0;
        }
      }
      if (component_.is_signed && (bits >> last_bit_ & 1) != 0)
        bits |= ~std::uint64_t{0} << last_bit_;
      store_unsigned(bits, component_.size, decoded.data() + i);
    }
  }

 private:
  Component component_;
  unsigned first_bit_;
  unsigned last_bit_;
  PaddingByte padding_byte_;
  std::size_t packed_size_ = 0;  // bytes
  unsigned padding_bits_ = 0;
};

class NumcodecsPackbitsFilter final : public Filter {
 public:
  std::optional<std::uint64_t> encoded_size(std::uint64_t decoded_size) const override {
    return 1 + ceil_divide(decoded_size, 8);
  }

  std::uint64_t max_decoded_size(ByteSpan encoded) const override {
    if (encoded.empty()) throw Error("packbits: there are no bytes");
    const auto padding = std::to_integer<std::uint64_t>(encoded[0]);
    const std::uint64_t bits = checked_multiply(encoded.size() - 1, 8).value_or(UINT64_MAX);
    if (padding > 7 || padding > bits) {
      throw Error("packbits: " + std::to_string(padding) + " bits of padding in " +
                  std::to_string(encoded.size() - 1) + " bytes");
    }
    return bits - padding;
  }

  DataType encoded_type() const override { return {TypeKind::unsigned_integer, 1}; }

  Shape encoded_shape(const Shape& shape) const override {
    const auto count = checked_product(shape);
    if (!count) throw Error("the chunk shape makes chunks larger than any memory");
    return {1 + ceil_divide(*count, 8)};
  }

  Buffer encode(ByteSpan decoded) const override {
    const auto size = static_cast<std::size_t>(1 + ceil_divide(decoded.size(), 8));
    Buffer encoded(size);
    std::memset(encoded.data(), 0, size);
    encoded.data()[0] = static_cast<std::byte>(8 * (size - 1) - decoded.size());
    for (std::size_t i = 0; i < decoded.size(); ++i) {
      if (decoded[i] != std::byte{0}) encoded.data()[1 + i / 8] |= std::byte{0x80} >> i % 8;
    }
    return encoded;
  }

  std::string name() const override { return "packbits"; }
  void decode(ByteSpan encoded, MutableByteSpan decoded) const override {
    check_size("packbits: ", max_decoded_size(encoded), decoded.size());
    for (std::size_t i = 0; i < decoded.size(); ++i) {
      decoded[i] = encoded[1 + i / 8] >> (7 - i % 8) & std::byte{1};
    }
  }
};

}  // namespace

Codec make_packbits(const Json& configuration, const ChunkSpec& spec) {
  const Component component = component_of(spec.data_type);
  const std::int64_t highest = component.bits - 1;
  const std::int64_t first = integer_option(configuration, "first_bit", 0);
  const std::int64_t last = integer_option(configuration, "last_bit", highest);
  if (first < 0 || first > last || last > highest) {
    throw Error("the bits " + std::to_string(first) + " to " + std::to_string(last) +
                " are none of " + type_name(spec.data_type));
  }
  const auto padding_byte = choice_option(configuration, "padding_encoding", PaddingByte::none,
                                          {{"none", PaddingByte::none},
                                           {"first_byte", PaddingByte::first},
                                           {"last_byte", PaddingByte::last}});
  return std::make_unique<PackbitsCodec>(spec, component, static_cast<unsigned>(first),
                                         static_cast<unsigned>(last), padding_byte);
}

Codec make_numcodecs_packbits(const Json& /*configuration*/, const ChunkSpec& /*spec*/) {
  return std::unique_ptr<const Filter>(std::make_unique<NumcodecsPackbitsFilter>());
}

}  // namespace zarrcore
