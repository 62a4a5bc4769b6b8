#include "zarrcore/codec/array_filter.h"

#include <cstring>

#include "zarrcore/codec/numpy_arithmetic.h"
#include "zarrcore/codec/size_checks.h"

namespace zarrcore {
namespace {

class ArrayFilter final : public ArrayToArrayCodec {
 public:
  ArrayFilter(std::unique_ptr<const Filter> filter, const ChunkSpec& spec, Endian input_endian)
      : filter_(std::move(filter)),
        decoded_unit_(swapped_unit(spec.data_type, input_endian)),
        encoded_unit_(swapped_unit(filter_->encoded_type(), filter_->encoded_endian())),
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

  void encode(ByteSpan decoded, MutableByteSpan encoded) const override {
    Buffer held;
    const Buffer bytes = filter_->encode(swapped(decoded, decoded_unit_, held));
    check_size("a filter makes ", bytes.size(), encoded.size());
    if (!bytes.empty()) std::memcpy(encoded.data(), bytes.data(), bytes.size());
    if (encoded_unit_ > 1) swap_bytes(encoded, encoded_unit_);
  }

  void decode(ByteSpan encoded, MutableByteSpan decoded) const override {
    Buffer held;
    filter_->decode(swapped(encoded, encoded_unit_, held), decoded);
    if (decoded_unit_ > 1) swap_bytes(decoded, decoded_unit_);
  }

 private:
  // The size of the numbers whose bytes must be swapped; 1 when they are in the host's order.
  static std::uint64_t swapped_unit(const DataType& type, Endian endian) {
    const std::vector<ByteUnit> units = byte_units(type);
    return endian == kHostEndian || units.empty() ? 1 : units.front().size;
  }

  // Returns `bytes` with each `unit` of them reversed, in `held` if that changes anything.
  static ByteSpan swapped(ByteSpan bytes, std::uint64_t unit, Buffer& held) {
    if (unit == 1) return bytes;
    held = Buffer::copy_of(bytes);
    swap_bytes(held.span(), unit);
    return held.span();
  }

  std::unique_ptr<const Filter> filter_;
  std::uint64_t decoded_unit_;
  std::uint64_t encoded_unit_;
  ChunkSpec encoded_spec_;
};

}  // namespace

std::unique_ptr<const ArrayToArrayCodec> make_array_filter(std::unique_ptr<const Filter> filter,
                                                           const ChunkSpec& spec,
                                                           Endian input_endian) {
  return std::make_unique<ArrayFilter>(std::move(filter), spec, input_endian);
}

}  // namespace zarrcore
