// What the object codecs json2 and msgpack2 of numcodecs share: a chunk is one list of the
// elements, nested by dimension, with two more items at its end: the data type as NumPy spells it
// ("|O") and the shape. Elements are texts here; others that a list holds are read as the
// JSON that spells them. Written again they would be texts, so a chunk that holds such elements can
// be replaced as a whole only.
#pragma once

#include <vector>

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
  bool keeps_elements() const final { return false; }
  void check_kept(ByteSpan encoded) const final;

 protected:
  // `name` begins the errors. Throws Error when chunks of `spec` are not of strings.
  ObjectListCodec(std::string name, const ChunkSpec& spec);

 private:
  virtual Json parse(ByteSpan encoded) const = 0;
  virtual Buffer write(const Json& list) const = 0;
  // The elements in C order, which are inside `list`. Throws Error when it is none of this shape.
  std::vector<const Json*> elements_of(const Json& list) const;

  std::string name_;
  Shape shape_;
  std::uint64_t count_;
};

}  // namespace zarrcore
