// The `bitround` filter of numcodecs: rounds floats to `keepbits` bits of their mantissa, halves to
// the even one. Decoding changes nothing.
#include <optional>

#include "zarrcore/base/error.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/configuration.h"
#include "zarrcore/codec/element_filter.h"
#include "zarrcore/dtype/element_converter.h"

namespace zarrcore {
namespace {

// The number of stored bits of the mantissa.
std::optional<int> mantissa_bits(const DataType& type) {
  if (type.kind != TypeKind::floating || type.float_format != FloatFormat::ieee) return {};
  return type.item_size == 2 ? 10 : type.item_size == 4 ? 23 : 52;
}

template <typename Bits>
void round_elements(const std::byte* source, std::byte* destination, std::size_t count,
                    int dropped_bits) {
  const auto half = static_cast<Bits>((Bits{1} << (dropped_bits - 1)) - 1);
  const auto mask = static_cast<Bits>(~Bits{0} << dropped_bits);
  transform_elements<Bits>(source, destination, count, [=](Bits bits) {
    return static_cast<Bits>((bits + (bits >> dropped_bits & 1) + half) & mask);
  });
}

class BitroundFilter final : public ElementFilter {
 public:
  BitroundFilter(const NumpyType& type, std::int64_t keepbits)
      : ElementFilter("bitround", type, type), type_(type.type), keepbits_(keepbits) {}

 private:
  // Limits are checked here, not by the factory: chunks can be decoded regardless of them.
  void encode_elements(const std::byte* decoded, std::byte* encoded,
                       std::size_t count) const override {
    const auto bits = mantissa_bits(type_);
    if (!bits) throw Error("bitround: the data type " + type_name(type_) + " cannot be rounded");
    if (keepbits_ > *bits) {
      throw Error("bitround: \"keepbits\" is " + std::to_string(keepbits_) + ", but " +
                  type_name(type_) + " has " + std::to_string(*bits));
    }
    const int dropped = *bits - static_cast<int>(keepbits_);
    if (dropped == 0) {
      decode_elements(decoded, encoded, count);
    } else if (type_.item_size == 2) {
      round_elements<std::uint16_t>(decoded, encoded, count, dropped);
    } else if (type_.item_size == 4) {
      round_elements<std::uint32_t>(decoded, encoded, count, dropped);
    } else {
      round_elements<std::uint64_t>(decoded, encoded, count, dropped);
    }
  }

  void decode_elements(const std::byte* encoded, std::byte* decoded,
                       std::size_t count) const override {
    if (count != 0) std::memcpy(decoded, encoded, memory_size(count * type_.item_size));
  }

  DataType type_;
  std::int64_t keepbits_;
};

}  // namespace

Codec make_bitround(const Json& configuration, const ChunkSpec& spec) {
  const std::int64_t keepbits = integer_option(configuration, "keepbits", -1);
  if (keepbits < 0) throw Error("\"keepbits\" is not a number of bits");
  return std::unique_ptr<const Filter>(
      std::make_unique<BitroundFilter>(NumpyType{spec.data_type}, keepbits));
}

}  // namespace zarrcore
