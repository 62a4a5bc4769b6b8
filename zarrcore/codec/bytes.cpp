// The `bytes` codec (v3 codecs, "bytes"): the elements of a chunk one after the other, in a stated
// byte order. In a chain with nothing but this codec, decoding is a copy.
#include <optional>

#include "zarrcore/base/endian.h"
#include "zarrcore/base/error.h"
#include "zarrcore/codec/codecs.h"
#include "zarrcore/codec/configuration.h"

namespace zarrcore {
namespace {

class BytesCodec final : public ArrayToBytesCodec {
 public:
  BytesCodec(std::uint64_t size, std::size_t swap_unit) : size_(size), swap_unit_(swap_unit) {}

  std::optional<std::uint64_t> encoded_size() const override { return size_; }
  std::uint64_t max_encoded_size() const override { return size_; }

  Buffer encode(ByteSpan decoded) const override {
    Buffer encoded = Buffer::copy_of(decoded);
    swap_bytes(encoded.span(), swap_unit_);
    return encoded;
  }

  void decode(ByteSpan encoded, MutableByteSpan decoded) const override {
    if (encoded.size() != size_) {
      throw Error("the chunk has " + std::to_string(encoded.size()) + " bytes where " +
                  std::to_string(size_) + " are expected");
    }
    if (size_ != 0) std::memcpy(decoded.data(), encoded.data(), size_);
    decode_in_place(decoded);
  }

  bool decodes_in_place() const override { return true; }
  void decode_in_place(MutableByteSpan chunk) const override { swap_bytes(chunk, swap_unit_); }

 private:
  std::uint64_t size_;
  std::size_t swap_unit_;  // 1: the byte order is the host's, or does not matter
};

}  // namespace

Codec make_bytes(const Json& configuration, const ChunkSpec& spec) {
  const std::uint64_t unit = spec.data_type.swap_unit();
  const auto endian = text_option(configuration, "endian");
  if (endian && *endian != "little" && *endian != "big") {
    throw Error("\"endian\" is \"" + *endian + "\", neither little nor big");
  }
  // fixed_length_utf32 is the one type of several bytes that writers leave without an order.
  if (!endian && unit > 1 && !spec.data_type.is_string()) {
    throw Error("\"endian\" is missing, which the data type " + type_name(spec.data_type) +
                " needs");
  }
  const Endian stored = endian == "big" ? Endian::big : Endian::little;
  return std::make_unique<BytesCodec>(spec.byte_count(), stored == kHostEndian ? 1 : unit);
}

}  // namespace zarrcore
