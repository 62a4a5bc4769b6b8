// Codecs whose data is a sequence of compressed streams, each of which says where it ends: bz2 and
// lzma.
#pragma once

#include <memory>
#include <string>

#include "zarrcore/codec/codec.h"

namespace zarrcore {

// Decodes one stream.
class StreamDecoder {
 public:
  virtual ~StreamDecoder() = default;

  // Decodes from the front of `encoded` to the front of `decoded`, and takes both off there, until
  // the stream ends or one of the two is used up. Returns whether the stream has ended. Throws
  // Error when the data is corrupt. `decoded` is not empty.
  virtual bool advance(ByteSpan& encoded, MutableByteSpan& decoded) = 0;
};

// Decoding ignores zeros behind a stream, which .xz has as padding, and, as Python's, what cannot
// begin another stream.
class StreamCodec : public BytesToBytesCodec {
 public:
  std::uint64_t max_decoded_size(ByteSpan encoded) const override;
  void decode(ByteSpan encoded, MutableByteSpan decoded) const final;
  Buffer decode(ByteSpan encoded, std::uint64_t max_size) const final;

 protected:
  // `name` begins the errors. No encoded byte decodes to more than `max_expansion`.
  StreamCodec(std::string name, std::uint64_t max_expansion);

 private:
  class Reader;

  // `size` is the most that all streams together decode to.
  virtual std::unique_ptr<StreamDecoder> make_decoder(std::uint64_t size) const = 0;

  std::string name_;
  std::uint64_t max_expansion_;
};

}  // namespace zarrcore
