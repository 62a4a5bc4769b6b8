// Codecs whose data is a sequence of compressed streams, each of which states where it ends: bz2
// and lzma.
#pragma once

#include <memory>
#include <string>

#include "zarrcore/codec/codec.h"

namespace zarrcore {

// Decodes one stream.
class StreamDecoder {
 public:
  virtual ~StreamDecoder() = default;

  // Decodes from the front of `encoded` to the front of `decoded` until the stream ends or one of
  // the two is used up, and removes the used bytes from both. Returns true if the stream has ended.
  // Throws Error when the data is corrupt. `decoded` is not empty.
  virtual bool advance(ByteSpan& encoded, MutableByteSpan& decoded) = 0;
};

// Decoding ignores zeros after a stream, which are padding in .xz, and, like Python, bytes that
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
