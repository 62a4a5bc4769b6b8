// The `bytes` codec (v3 codecs, "bytes"): the elements of a chunk one after the other, in a stated
// byte order. In a chain of only this codec, decoding is a copy.
//
// `endian` is "little" or "big"; if it is missing, little is assumed, as GDAL's built-in driver
// does. For v2 structures, whose fields may differ, it is a list of these: one for each of
// byte_units() (dtype/data_type.h).
#include <algorithm>
#include <optional>

#include "zarrcore/base/endian.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/json.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/metadata/codec_metadata.h"

namespace zarrcore {
namespace {

// Gives integers of `bits` bits, each in the low bits of a byte, the value of the whole byte.
void extend_narrow_integers(MutableByteSpan elements, std::uint8_t bits, bool is_signed) {
  const unsigned mask = (1u << bits) - 1;
  const unsigned sign = is_signed ? 1u << (bits - 1) : 0;
  for (std::byte& element : elements) {
    // Flipping the sign bit and subtracting it copies it to the bits above.
    element = static_cast<std::byte>(((std::to_integer<unsigned>(element) & mask) ^ sign) - sign);
  }
}

class BytesCodec final : public ArrayToBytesCodec {
 public:
  // `swapped` are the units whose bytes are not in the host's order.
  BytesCodec(const ChunkSpec& spec, std::vector<ByteUnit> swapped, bool assumes_order)
      : size_(memory_size(spec.byte_count())),
        item_size_(memory_size(spec.data_type.item_size)),
        bits_(spec.data_type.bits),
        is_signed_(spec.data_type.kind == TypeKind::signed_integer),
        swapped_(std::move(swapped)),
        assumes_order_(assumes_order) {
    // Units of one size that fill the element are one run over the whole chunk.
    const bool is_uniform =
        std::all_of(swapped_.begin(), swapped_.end(),
                    [&](const ByteUnit& unit) { return unit.size == swapped_.front().size; });
    if (is_uniform && !swapped_.empty() && swapped_.size() * swapped_.front().size == item_size_) {
      run_unit_ = swapped_.front().size;
    }
  }

  std::optional<std::uint64_t> encoded_size() const override { return size_; }
  std::uint64_t max_encoded_size() const override { return size_; }

  Buffer encode(ByteSpan decoded) const override {
    Buffer encoded = Buffer::copy_of(decoded);
    swap(encoded.span());
    return encoded;
  }

  bool assumes_byte_order() const override { return assumes_order_; }
  void state_byte_order(Json& configuration) const override {
    if (assumes_order_) configuration["endian"] = "little";
  }
  bool is_identity() const override { return swapped_.empty() && bits_ == 0; }

  void decode(ByteSpan encoded, MutableByteSpan decoded, Arena& /*arena*/) const override {
    check_size("the chunk has ", encoded.size(), size_);
    if (size_ != 0) std::memcpy(decoded.data(), encoded.data(), size_);
    decode_in_place(decoded);
  }

  bool decodes_in_place() const override { return true; }
  void decode_in_place(MutableByteSpan chunk) const override {
    swap(chunk);
    if (bits_ != 0) extend_narrow_integers(chunk, bits_, is_signed_);
  }

 private:
  void swap(MutableByteSpan chunk) const {
    if (run_unit_ != 0) {
      swap_bytes(chunk, run_unit_);
      return;
    }
    for (std::size_t i = 0; i < chunk.size() && !swapped_.empty(); i += item_size_) {
      for (const ByteUnit& unit : swapped_) {
        swap_bytes(chunk.subspan(i + unit.offset, unit.size), unit.size);
      }
    }
  }

  std::size_t size_;
  std::size_t item_size_;
  std::uint8_t bits_;
  bool is_signed_;
  std::vector<ByteUnit> swapped_;
  std::uint64_t run_unit_ = 0;
  bool assumes_order_;
};

}  // namespace

Codec make_bytes(const Json& configuration, const ChunkSpec& spec) {
  const DataType& type = spec.data_type;
  if (type.is_variable()) {
    throw Error("elements of the type " + type_name(type) + " have no fixed number of bytes");
  }
  const std::vector<ByteUnit> units = byte_units(type);
  std::vector<Endian> orders(units.size(), Endian::little);
  const Json* endian = find_value(configuration, "endian");
  bool assumes_order = false;
  if (endian == nullptr) {
    // Writers state no order for text of several bytes and for structures.
    assumes_order = !units.empty() && !type.is_string() && type.kind != TypeKind::structure;
  } else if (endian->is_array() && endian->size() == units.size()) {
    std::transform(endian->begin(), endian->end(), orders.begin(), parse_endian);
  } else {
    std::fill(orders.begin(), orders.end(), parse_endian(*endian));
  }
  std::vector<ByteUnit> swapped;
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (orders[i] != kHostEndian) swapped.push_back(units[i]);
  }
  return std::make_unique<BytesCodec>(spec, std::move(swapped), assumes_order);
}

}  // namespace zarrcore
