// Codecs: the three kinds of the v3 core specification ("codecs"), from which a chain encodes and
// decodes the chunks of an array.
//
// The registry (registry.h) makes a codec once, from its metadata and the ChunkSpec of its input:
// then its configuration is read and checked, and sizes are computed. After that it is immutable,
// encodes and decodes any number of chunks, and may be used by several threads at once. A chunk in
// memory is dense, in C order, its elements in the host's byte order.
//
// Codecs throw Error on bad configurations and on bytes that cannot be decoded; they never write
// outside the given span, even for hostile bytes. The functions at the end help to write them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "zarrcore/base/buffer.h"
#include "zarrcore/base/endian.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/json.h"
#include "zarrcore/base/strided.h"
#include "zarrcore/dtype/data_type.h"

namespace zarrcore {

// The properties of chunks that matter to a codec.
struct ChunkSpec {
  Shape shape;
  DataType data_type;
  std::vector<std::byte> fill_value;  // one element

  // Bytes of a chunk in memory. Throws Error when they do not fit a pointer difference.
  std::uint64_t byte_count() const;
};

// Chunks whose fill value is zero.
ChunkSpec spec_with_zero(Shape shape, const DataType& type);

// An array-to-array codec.
class ArrayToArrayCodec {
 public:
  virtual ~ArrayToArrayCodec() = default;

  // The encoded form of the chunks that the codec was constructed for.
  virtual const ChunkSpec& encoded_spec() const = 0;

  // `encoded` and `decoded` are dense chunks of the two specs.
  virtual void encode(ByteSpan decoded, MutableByteSpan encoded) const = 0;
  virtual void decode(ByteSpan encoded, MutableByteSpan decoded) const = 0;

  // Returns true if chunks can be written; else encode() throws Error.
  virtual bool can_encode() const { return true; }

  // If the codec only reorders dimensions: the decoded dimension of each encoded dimension. Chains
  // then fold it into the strides with which a chunk is copied. Else null.
  virtual const std::vector<std::size_t>* axis_order() const { return nullptr; }
};

class ShardingCodec;

// An array-to-bytes codec.
class ArrayToBytesCodec {
 public:
  virtual ~ArrayToBytesCodec() = default;

  // The size of every encoded chunk, when all have the same.
  virtual std::optional<std::uint64_t> encoded_size() const { return std::nullopt; }

  // More bytes than any sensible encoded chunk has, but for what bytes-to-bytes codecs inside add.
  virtual std::uint64_t max_encoded_size() const = 0;

  virtual Buffer encode(ByteSpan decoded) const = 0;
  // The same with inner chunks that contain only the fill value, which encode() leaves out.
  virtual Buffer encode_all(ByteSpan decoded) const { return encode(decoded); }
  // Returns true if chunks can be written; else encode() throws Error.
  virtual bool can_encode() const { return true; }
  // Returns true if encoding and decoding change nothing.
  virtual bool is_identity() const { return false; }
  // Decodes into `decoded`, a dense chunk of the spec. Elements of variable length point into
  // `arena`.
  virtual void decode(ByteSpan encoded, MutableByteSpan decoded, Arena& arena) const = 0;

  // Returns true if encoded and decoded chunks are the same bytes except for the byte order of
  // elements. If so, decode_in_place() turns the encoded bytes into the chunk where they are.
  virtual bool decodes_in_place() const { return false; }
  virtual void decode_in_place(MutableByteSpan /*chunk*/) const {}

  // Returns true if all elements that decode() makes encode to the same bytes again.
  virtual bool round_trips() const { return true; }
  // If not: throws Error, which names the element, when one of `encoded` would not.
  virtual void check_round_trip(ByteSpan /*encoded*/) const {}

  // Returns true if little-endian bytes are assumed because the metadata states no byte order.
  virtual bool assumes_byte_order() const { return false; }
  // If so, states it in the codec's configuration.
  virtual void state_byte_order(Json& /*configuration*/) const {}

  // Not null if inner chunks can be found and decoded one by one.
  virtual const ShardingCodec* as_sharding() const { return nullptr; }
};

// The number of bytes that a bytes-to-bytes codec puts around the unchanged payload.
struct Framing {
  std::size_t prefix = 0;
  std::size_t suffix = 0;
};

// A bytes-to-bytes codec.
class BytesToBytesCodec {
 public:
  virtual ~BytesToBytesCodec() = default;

  // The encoded size of `decoded_size` bytes, when it depends on that size only.
  virtual std::optional<std::uint64_t> encoded_size(std::uint64_t /*decoded_size*/) const {
    return std::nullopt;
  }

  // The most bytes that `encoded` can decode to, as far as that shows without decoding. Checked
  // before memory is allocated, so that a few bytes cannot demand much of it.
  virtual std::uint64_t max_decoded_size(ByteSpan /*encoded*/) const { return UINT64_MAX; }

  virtual Buffer encode(ByteSpan decoded) const = 0;
  // Returns true if chunks can be written; else encode() throws Error.
  virtual bool can_encode() const { return true; }

  // Decodes bytes to the size of `decoded`. Any other decoded size is an error.
  virtual void decode(ByteSpan encoded, MutableByteSpan decoded) const = 0;

  // Decodes bytes to an unknown size of at most `max_size`. Unless it is overridden,
  // max_decoded_size() must be the decoded size.
  virtual Buffer decode(ByteSpan encoded, std::uint64_t max_size) const;
  // What messages of this decode() start with.
  virtual std::string name() const { return "codec"; }

  // If parts of the decoded bytes can be decoded separately (Blosc's blocks): the size of each
  // except the last. Throws Error like decode().
  virtual std::optional<std::uint64_t> block_size(ByteSpan /*encoded*/) const {
    return std::nullopt;
  }
  // Decodes the block that begins at `offset` of `decoded_size` bytes. Only for codecs with a
  // block_size().
  virtual void decode_block(ByteSpan /*encoded*/, std::uint64_t /*decoded_size*/,
                            std::uint64_t /*offset*/, MutableByteSpan /*block*/) const {}

  // If the first decoded bytes can be decoded without the rest: in steps of so many.
  virtual std::optional<std::uint64_t> prefix_step() const { return std::nullopt; }
  // Decodes the first bytes of `decoded_size`; false if this is not possible with these encoded
  // bytes. Only for codecs with a prefix_step().
  virtual bool decode_prefix(ByteSpan /*encoded*/, std::uint64_t /*decoded_size*/,
                             MutableByteSpan /*prefix*/) const {
    return false;
  }

  // Returns true if encoded bytes have their own order of elements, as images have, and decoded
  // ones are little-endian. Such a codec may replace the array-to-bytes codec.
  virtual bool makes_elements() const { return false; }

  // Not null if the encoded bytes contain the unchanged payload.
  virtual const Framing* framing() const { return nullptr; }
  // Checks the frame and returns the payload inside `encoded`. Only for codecs with framing().
  virtual ByteSpan unframe(ByteSpan encoded) const { return encoded; }
};

// A filter of numcodecs: it views its input bytes as elements of its own type, and produces other
// elements. It may be on either side of the array-to-bytes codec: in v2 it follows, in v3 it
// precedes, with the chunk's elements in C order as its input.
class Filter : public BytesToBytesCodec {
 public:
  // The type of the encoded elements.
  virtual DataType encoded_type() const = 0;
  // The byte order of the encoded elements.
  virtual Endian encoded_endian() const { return Endian::little; }
  // The encoded shape of chunks of `shape`.
  virtual Shape encoded_shape(const Shape& shape) const { return shape; }
};

// A codec of one of the three kinds, or a filter.
using Codec =
    std::variant<std::unique_ptr<const ArrayToArrayCodec>, std::unique_ptr<const ArrayToBytesCodec>,
                 std::unique_ptr<const BytesToBytesCodec>, std::unique_ptr<const Filter>>;

// --- For factories: reading configurations -------------------------------------------------------

// The integer member `key`, or `fallback` when it is missing or null. Throws Error when it is not
// an integer. A codec checks limits that only matter for encoding when it encodes: a chunk can be
// decoded with any level.
std::int64_t integer_option(const Json& configuration, std::string_view key, std::int64_t fallback);

// The same; also throws Error when it is less than `min` or more than `max`.
std::int64_t integer_option(const Json& configuration, std::string_view key, std::int64_t fallback,
                            std::int64_t min, std::int64_t max);

// The string member `key`, or nullopt when it is missing or null. Throws Error when it is not a
// string.
std::optional<std::string> text_option(const Json& configuration, std::string_view key);

// The string member `key`. Throws Error when it is missing or not a string.
std::string text_member(const Json& configuration, std::string_view key);

// What `choices` have for the text of the member `key`, or `fallback` when it is missing or null.
// Throws Error when it is none of them.
template <typename Value>
Value choice_option(const Json& configuration, std::string_view key, Value fallback,
                    std::initializer_list<std::pair<std::string_view, Value>> choices) {
  const auto text = text_option(configuration, key);
  if (!text) return fallback;
  std::string known;
  for (const auto& [name, value] : choices) {
    if (name == *text) return value;
    known.append(known.empty() ? "" : ", ").append(name);
  }
  throw Error("\"" + std::string(key) + "\" is \"" + *text + "\", none of " + known);
}

// The boolean member `key`, or `fallback` when it is missing or null. Throws Error when it is not a
// boolean.
bool boolean_option(const Json& configuration, std::string_view key, bool fallback);

// The number member `key`, or a null pointer when it is missing or null. Throws Error when it is
// not a number.
const Json* number_option(const Json& configuration, std::string_view key);

// The number member `key`. Throws Error when it is missing or not a number.
const Json& number_member(const Json& configuration, std::string_view key);

// Throws Error, unless `is_right`, that a codec is not for elements of `type`.
inline void check_type(bool is_right, const DataType& type) {
  if (!is_right) throw Error("it is not for elements of the type " + type_name(type));
}

// --- For decoders: the sizes that a chunk must have or cannot exceed -----------------------------

// Returns true if all bytes are zero.
inline bool is_zero(ByteSpan bytes) {
  return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
}

// Throws "lz4: 3 bytes where 4 are expected", for `before` "lz4: ", unless the sizes are equal.
inline void check_size(std::string_view before, std::uint64_t size, std::uint64_t expected) {
  if (size == expected) return;
  throw Error(std::string(before) + std::to_string(size) + " bytes where " +
              std::to_string(expected) + " are expected");
}

// Throws "lz4: 5 bytes, more than the 4 that can be right" when `size` is more than `max_size`.
inline void check_max_size(std::string_view before, std::uint64_t size, std::uint64_t max_size) {
  if (size <= max_size) return;
  throw Error(std::string(before) + std::to_string(size) + " bytes, more than the " +
              std::to_string(max_size) + " that can be right");
}

// Calls `decode(memory)` with more and more memory, from `guess` to `limit` bytes, until it returns
// the size of what it has decoded: nullopt if that does not fit. Throws Error, which begins with
// `before`, when the limit does not suffice.
template <typename Decode>
Buffer decode_growing(std::string_view before, std::uint64_t guess, std::uint64_t limit,
                      const Decode& decode) {
  for (guess = std::min(guess, limit);; guess = std::min(limit, guess * 4)) {
    Buffer decoded(guess);
    if (const std::optional<std::size_t> size = decode(decoded.span())) {
      decoded.truncate(*size);
      return decoded;
    }
    if (guess == limit) {
      throw Error(std::string(before) + "more than the " + std::to_string(limit) +
                  " bytes that can be right");
    }
  }
}

}  // namespace zarrcore
