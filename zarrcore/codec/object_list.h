// What the object codecs json2 and msgpack2 of numcodecs share: a chunk is one list of the
// elements, nested by dimension, with two more items at its end: the data type as NumPy spells it
// ("|O") and the shape. Elements are texts here; others that a list holds become the JSON that
// spells them.
#pragma once

#include "zarrcore/base/arena.h"
#include "zarrcore/base/json.h"
#include "zarrcore/codec/codec.h"

namespace zarrcore {

class ObjectListCodec : public ArrayToBytesCodec {
 public:
  std::optional<std::uint64_t> encoded_size() const final { return std::nullopt; }
  std::uint64_t max_encoded_size() const final { return max_stored_size(count_); }
  Buffer encode(ByteSpan decoded) const final;
  void decode(ByteSpan encoded, MutableByteSpan decoded, Arena& arena) const final;

 protected:
  // `name` begins the errors. Throws Error when chunks of `spec` are not of strings.
  ObjectListCodec(std::string name, const ChunkSpec& spec);

 private:
  virtual Json parse(ByteSpan encoded) const = 0;
  virtual Buffer write(const Json& list) const = 0;

  std::string name_;
  Shape shape_;
  std::uint64_t count_;
};

}  // namespace zarrcore
