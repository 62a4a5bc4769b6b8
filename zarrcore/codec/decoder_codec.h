// Decoding of bytes-to-bytes codecs: codecs for formats of other programs that are created from one
// function, and whose encoding is an error; codecs whose data is a sequence of compressed streams;
// and what decoders read from and write to.
#pragma once

#include <algorithm>
#include <bit>
#include <functional>
#include <memory>
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

// The same bit by bit, the most significant one of a byte first.
class BitInput {
 public:
  explicit BitInput(ByteSpan bytes) : rest_(bytes) {}

  // The next bits, at most 32. Throws Error when there are fewer.
  std::uint32_t take(unsigned count) {
    if (count == 0) return 0;
    fill();
    if (count > count_) throw Error("the data ends too early");
    const auto value = static_cast<std::uint32_t>(bits_ >> (64 - count));
    bits_ <<= count;
    count_ -= count;
    return value;
  }

  // Drops what is left of a byte.
  void align() { take(count_ % 8); }

  // Takes zeros and the following one, and returns the number of zeros.
  std::uint64_t take_zeros() {
    std::uint64_t zeros = 0;
    for (fill(); bits_ == 0; fill()) {
      if (count_ == 0) throw Error("the data ends too early");
      zeros += count_;
      count_ = 0;
    }
    const auto more = static_cast<unsigned>(std::countl_zero(bits_));
    bits_ = bits_ << more << 1;
    count_ -= more + 1;
    return zeros + more;
  }

 private:
  void fill() {
    for (; count_ <= 56 && !rest_.empty(); count_ += 8) {
      bits_ |= std::to_integer<std::uint64_t>(rest_.front()) << (56 - count_);
      rest_ = rest_.subspan(1);
    }
  }

  ByteSpan rest_;
  std::uint64_t bits_ = 0;  // the next ones are the most significant; the rest are zero
  unsigned count_ = 0;
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

// Puts the bytes of elements of `item_size` bytes next to each other: `planes` are all their first
// bytes, then their second bytes, and so on, or, if it is reversed, all their last bytes first.
void unshuffle_bytes(ByteSpan planes, std::size_t item_size, MutableByteSpan elements,
                     bool is_reversed = false);

// Decodes one stream.
class StreamDecoder {
 public:
  virtual ~StreamDecoder() = default;

  // Decodes from the front of `encoded` to the front of `decoded` until the stream ends or one of
  // the two is used up, and removes the used bytes from both. Returns true if the stream has ended.
  // Throws Error when the data is corrupt. `decoded` is not empty.
  virtual bool advance(ByteSpan& encoded, MutableByteSpan& decoded) = 0;
};

// The codec of a sequence of streams, each of which states where it ends: bz2 and lzma. Decoding
// ignores zeros after a stream, which are padding in .xz, and, like Python, bytes that
// cannot begin another stream.
class StreamCodec : public BytesToBytesCodec {
 public:
  std::uint64_t max_decoded_size(ByteSpan encoded) const override;
  void decode(ByteSpan encoded, MutableByteSpan decoded) const final;
  Buffer decode(ByteSpan encoded, std::uint64_t max_size) const final;

 protected:
  // Messages start with `name`. No encoded byte decodes to more than `max_expansion` bytes.
  StreamCodec(std::string name, std::uint64_t max_expansion);

 private:
  class Reader;

  // `size` is the most that all streams together decode to.
  virtual std::unique_ptr<StreamDecoder> make_decoder(std::uint64_t size) const = 0;

  std::string name_;
  std::uint64_t max_expansion_;
};

}  // namespace zarrcore
