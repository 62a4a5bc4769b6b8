// The `packbits` filter of numcodecs: eight booleans to a byte, the first in the most significant
// bit, after a byte with the number of bits of padding in the last byte.
//
// The v3 extension named `packbits` is another format.
#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/json.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/configuration.h"

namespace zarrcore {
namespace {

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

Codec make_numcodecs_packbits(const Json& /*configuration*/, const ChunkSpec& /*spec*/) {
  return std::unique_ptr<const Filter>(std::make_unique<NumcodecsPackbitsFilter>());
}

}  // namespace zarrcore
