// Codecs that only decode: bytes-to-bytes codecs for formats of other programs, created from one
// function. Encoding is an error.
#pragma once

#include <algorithm>
#include <functional>
#include <string>

#include "zarrcore/base/error.h"
#include "zarrcore/codec/codec.h"

namespace zarrcore {

struct Decoder {
  std::string name;  // messages start with it
  // No encoded byte decodes to more bytes.
  std::uint64_t max_expansion = 1;
  // Decodes to the front of `decoded` and returns the number of bytes. Throws Error when the data
  // is corrupt or `decoded` is too small.
  std::function<std::size_t(ByteSpan encoded, MutableByteSpan decoded)> decode;
  // See BytesToBytesCodec::encoded_size(); may be null.
  std::function<std::optional<std::uint64_t>(std::uint64_t decoded_size)> encoded_size = nullptr;
};

Codec make_decoder_codec(Decoder decoder);

// The error about a chunk that `name` would have to encode.
Error only_decodes(std::string_view name);

// The rest of encoded bytes.
class EncodedInput {
 public:
  explicit EncodedInput(ByteSpan bytes) : rest_(bytes) {}

  bool is_empty() const { return rest_.empty(); }
  ByteSpan rest() const { return rest_; }

  // The next bytes. Throws Error when there are fewer.
  ByteSpan take(std::uint64_t count) {
    if (count > rest_.size()) throw Error("the data ends too early");
    const ByteSpan taken = rest_.first(static_cast<std::size_t>(count));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }
  std::uint32_t take_byte() { return std::to_integer<std::uint32_t>(take(1).front()); }
  // A little-endian number of up to 8 bytes.
  std::uint64_t take_number(std::size_t size) {
    std::uint64_t number = 0;
    const ByteSpan bytes = take(size);
    for (std::size_t i = size; i-- > 0;) number = number << 8 | std::to_integer<unsigned>(bytes[i]);
    return number;
  }

 private:
  ByteSpan rest_;
};

// A chunk that is decoded from its first byte to its last. The functions throw Error when more is
// written than fits.
class DecodedOutput {
 public:
  explicit DecodedOutput(MutableByteSpan bytes) : bytes_(bytes) {}

  std::size_t size() const { return size_; }

  // The next `count` bytes, for the caller to fill.
  MutableByteSpan extend(std::uint64_t count) {
    if (count > bytes_.size() - size_) {
      throw Error("more than the expected " + std::to_string(bytes_.size()) + " bytes");
    }
    const MutableByteSpan added = bytes_.subspan(size_, static_cast<std::size_t>(count));
    size_ += added.size();
    return added;
  }

  void append(ByteSpan bytes) {
    std::copy(bytes.begin(), bytes.end(), extend(bytes.size()).begin());
  }

  // Appends the `count` bytes that begin `distance` before the end. They may overlap the appended
  // bytes, which then repeat.
  void repeat(std::uint64_t distance, std::uint64_t count) {
    if (distance == 0 || distance > size_) throw Error("the data is corrupt");
    const std::byte* source = bytes_.data() + size_ - distance;
    for (std::byte& byte : extend(count)) byte = *source++;
  }

 private:
  MutableByteSpan bytes_;
  std::size_t size_ = 0;
};

}  // namespace zarrcore
