// Array-to-array codecs that make one element of another.
#pragma once

#include <utility>

#include "zarrcore/base/error.h"
#include "zarrcore/codec/codec.h"

namespace zarrcore {

class ElementCodec : public ArrayToArrayCodec {
 public:
  const ChunkSpec& encoded_spec() const final { return encoded_spec_; }

  void encode(ByteSpan decoded, MutableByteSpan encoded) const final {
    encode_elements(decoded.data(), encoded.data(), decoded.size() / decoded_size_);
  }
  void decode(ByteSpan encoded, MutableByteSpan decoded) const final {
    decode_elements(encoded.data(), decoded.data(), decoded.size() / decoded_size_);
  }

  // Completes encoded_spec() once the codec is constructed. Throws Error when the fill value cannot
  // be encoded.
  void encode_fill_value(const ChunkSpec& spec) {
    with_context("the fill value", [&] {
      encode_elements(spec.fill_value.data(), encoded_spec_.fill_value.data(), 1);
    });
  }

 protected:
  // For chunks of `spec`, which become chunks of `encoded`.
  ElementCodec(const ChunkSpec& spec, const DataType& encoded)
      : decoded_size_(memory_size(spec.data_type.item_size)),
        encoded_spec_{spec.shape, encoded, std::vector<std::byte>(memory_size(encoded.item_size))} {
  }

 private:
  virtual void encode_elements(const std::byte* decoded, std::byte* encoded,
                               std::size_t count) const = 0;
  virtual void decode_elements(const std::byte* encoded, std::byte* decoded,
                               std::size_t count) const = 0;

  std::size_t decoded_size_;
  ChunkSpec encoded_spec_;
};

}  // namespace zarrcore
