// The `zarrs.optional` codec: elements that may be missing. A chunk has the encoded sizes of mask
// and data as 64-bit little-endian integers, then the mask and the data, each encoded by its own
// codec chain. The mask is an array of booleans of the chunk's shape. The data are the values of
// the elements that are not missing, in one dimension; without any there are no bytes.
#include <algorithm>

#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/endian.h"
#include "zarrcore/base/error.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/codec_chain.h"

namespace zarrcore {
namespace {

constexpr std::size_t kSizes = 2 * sizeof(std::uint64_t);

class OptionalCodec final : public ArrayToBytesCodec {
 public:
  OptionalCodec(const Json& configuration, const ChunkSpec& spec)
      : value_((*spec.data_type.fields)[1]),
        item_size_(memory_size(spec.data_type.item_size)),
        count_(spec.byte_count() / spec.data_type.item_size),
        mask_chain_(codecs_member(configuration, "mask_codecs"),
                    spec_with_zero(spec.shape, {TypeKind::boolean, 1})),
        data_codecs_(codecs_member(configuration, "data_codecs")),
        data_chain_(data_chain(count_)) {}

  bool assumes_byte_order() const override {
    return mask_chain_.assumes_bytes() || data_chain_.assumes_bytes();
  }
  void state_byte_order(Json& configuration) const override {
    if (!assumes_byte_order()) return;
    configuration["mask_codecs"] = format_codec_list(mask_chain_.codecs());
    configuration["data_codecs"] = format_codec_list(data_chain_.codecs());
  }

  std::uint64_t max_encoded_size() const override {
    const auto size =
        checked_add(mask_chain_.max_uncompressed_size(), data_chain_.max_uncompressed_size());
    return size ? checked_add(*size, kSizes).value_or(UINT64_MAX) : UINT64_MAX;
  }
  bool can_encode() const override { return mask_chain_.can_encode() && data_chain_.can_encode(); }

  Buffer encode(ByteSpan decoded) const override {
    Buffer mask(count_);
    Buffer values(count_ * value_.type.item_size);
    std::byte* end = values.data();
    for (std::size_t i = 0; i < mask.size(); ++i) {
      const ByteSpan element = decoded.subspan(i * item_size_, item_size_);
      mask.data()[i] = std::byte{element[0] != std::byte{0}};
      if (element[0] == std::byte{0}) continue;
      end = std::ranges::copy(element.subspan(value_.offset), end).out;
    }
    values.truncate(static_cast<std::size_t>(end - values.data()));
    const Buffer encoded_mask = mask_chain_.encode_from_c_order(mask.span());
    Buffer data;
    if (!values.empty()) {
      data = data_chain(values.size() / value_.type.item_size).encode(std::move(values));
    }
    Buffer encoded(kSizes + encoded_mask.size() + data.size());
    store_integer<std::uint64_t>(encoded_mask.size(), Endian::little, encoded.data());
    store_integer<std::uint64_t>(data.size(), Endian::little, encoded.data() + kSizes / 2);
    std::byte* const after = std::ranges::copy(encoded_mask.span(), encoded.data() + kSizes).out;
    std::ranges::copy(data.span(), after);
    return encoded;
  }

  void decode(ByteSpan encoded, MutableByteSpan decoded, Arena& arena) const override {
    if (encoded.size() < kSizes) throw Error("optional: the chunk ends within its sizes");
    const auto mask_size = load_integer<std::uint64_t>(encoded.data(), Endian::little);
    const auto data_size = load_integer<std::uint64_t>(encoded.data() + kSizes / 2, Endian::little);
    const ByteSpan rest = encoded.subspan(kSizes);
    if (checked_add(mask_size, data_size) != rest.size()) {
      throw Error("optional: the chunk has " + std::to_string(rest.size()) + " bytes where " +
                  std::to_string(mask_size) + " of the mask and " + std::to_string(data_size) +
                  " of the data are expected");
    }
    Buffer mask(count_);
    with_context("optional: mask", [&] {
      mask_chain_.decode_to_c_order(rest.first(memory_size(mask_size)), mask.span(), arena);
    });
    const auto valid = static_cast<std::uint64_t>(
        std::ranges::count_if(mask.span(), [](std::byte b) { return b != std::byte{0}; }));
    const Buffer values = with_context("optional: data", [&] {
      const ByteSpan data = rest.subspan(memory_size(mask_size));
      if (valid != 0) return data_chain(valid).decode(data).elements;
      check_size("the chunk has ", data.size(), 0);
      return Buffer();
    });
    const std::size_t value_size = memory_size(value_.type.item_size);
    ByteSpan next = values.span();
    std::ranges::fill(decoded, std::byte{0});
    for (std::size_t i = 0; i < mask.size(); ++i) {
      if (mask.data()[i] == std::byte{0}) continue;
      std::byte* element = decoded.data() + i * item_size_;
      element[0] = std::byte{1};
      std::ranges::copy(next.first(value_size), element + value_.offset);
      next = next.subspan(value_size);
    }
  }

 private:
  CodecChain data_chain(std::uint64_t count) const {
    return {data_codecs_, spec_with_zero({count}, value_.type)};
  }

  Field value_;
  std::size_t item_size_;
  std::uint64_t count_;
  CodecChain mask_chain_;
  std::vector<CodecMetadata> data_codecs_;
  CodecChain data_chain_;  // of a chunk without missing elements
};

}  // namespace

Codec make_optional_codec(const Json& configuration, const ChunkSpec& spec) {
  check_type(spec.data_type.is_optional, spec.data_type);
  return std::make_unique<OptionalCodec>(configuration, spec);
}

}  // namespace zarrcore
