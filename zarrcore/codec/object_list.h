// The object codecs json2 and msgpack2 of numcodecs: a chunk is one list of the elements, nested by
// dimension, followed by two more items: the data type as NumPy spells it ("|O") and the shape.
// Their predecessors json and msgpack have no shape: the list is flat, or nested like the chunk.
// Elements are texts here; other elements of a list are read as their JSON text. They would be
// written as texts, so a chunk with such elements can only be replaced as a whole.
#pragma once

#include <vector>

#include "zarrcore/base/buffer.h"
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
  // Messages start with `name`. Only a codec whose lists include the shape has a name that ends
  // with 2. Throws Error when the elements of `spec` are not strings.
  ObjectListCodec(std::string name, const ChunkSpec& spec);

 private:
  virtual Json parse(ByteSpan encoded) const = 0;
  virtual Buffer write(const Json& list) const = 0;
  // The elements inside `list` in C order. Throws Error when it does not have this shape.
  std::vector<const Json*> elements_of(const Json& list) const;

  std::string name_;
  bool has_shape_;
  Shape shape_;
  std::uint64_t count_;
};

}  // namespace zarrcore
