// Codecs: the three kinds of the v3 core specification ("codecs"), from which a chain encodes and
// decodes the chunks of an array.
//
// A codec is made once, by the registry (registry.h), from its metadata and the ChunkSpec of what
// it will encode: that is when its configuration is read and checked, and sizes are computed. From
// then on it is immutable, encodes and decodes any number of chunks, and may be used by several
// threads at once. A chunk in memory is dense, in C order, its elements in the host's byte order.
//
// Codecs throw Error on bad configurations and on bytes that cannot be decoded; they never write
// outside the span they are given, whatever the bytes say.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "zarrcore/base/arena.h"
#include "zarrcore/base/buffer.h"
#include "zarrcore/base/endian.h"
#include "zarrcore/base/strided.h"
#include "zarrcore/dtype/data_type.h"

namespace zarrcore {

// What an array is, as far as a codec is concerned.
struct ChunkSpec {
  Shape shape;
  DataType data_type;
  std::vector<std::byte> fill_value;  // one element

  // Bytes of a chunk in memory. Throws Error when that does not fit a pointer difference.
  std::uint64_t byte_count() const;
};

// An array-to-array codec.
class ArrayToArrayCodec {
 public:
  virtual ~ArrayToArrayCodec() = default;

  // What this codec makes of the chunks it was made for.
  virtual const ChunkSpec& encoded_spec() const = 0;

  // `encoded` and `decoded` are dense chunks of the two specs.
  virtual void encode(ByteSpan decoded, MutableByteSpan encoded) const = 0;
  virtual void decode(ByteSpan encoded, MutableByteSpan decoded) const = 0;

  // If all that the codec does is to reorder dimensions: which decoded dimension each encoded
  // dimension is. Chains then fold it into the strides with which a chunk is copied.
  virtual const std::vector<std::size_t>* axis_order() const { return nullptr; }
};

class ShardingCodec;

// An array-to-bytes codec.
class ArrayToBytesCodec {
 public:
  virtual ~ArrayToBytesCodec() = default;

  // The size of every encoded chunk, when all have the same.
  virtual std::optional<std::uint64_t> encoded_size() const = 0;

  // More bytes than any sensible encoded chunk has.
  virtual std::uint64_t max_encoded_size() const = 0;

  virtual Buffer encode(ByteSpan decoded) const = 0;
  // Whether encoding and decoding change nothing.
  virtual bool is_identity() const { return false; }
  // Decodes into `decoded`, a dense chunk of the spec. What elements of variable length point to
  // goes into `arena`.
  virtual void decode(ByteSpan encoded, MutableByteSpan decoded, Arena& arena) const = 0;

  // If encoded and decoded chunks are the same bytes but for the order of the bytes of each
  // element: what to do in place after the encoded bytes have been put where the chunk belongs.
  virtual bool decodes_in_place() const { return false; }
  virtual void decode_in_place(MutableByteSpan /*chunk*/) const {}

  // Whether all elements that decode() gives encode to what they were.
  virtual bool keeps_elements() const { return true; }
  // Of a codec that may not: throws Error, which names the element, unless it would with `encoded`.
  virtual void check_kept(ByteSpan /*encoded*/) const {}

  // If inner chunks can be found and decoded one by one.
  virtual const ShardingCodec* as_sharding() const { return nullptr; }
};

// Bytes that a bytes-to-bytes codec puts around the payload, which it leaves as it is.
struct Framing {
  std::uint64_t prefix = 0;
  std::uint64_t suffix = 0;
};

// A bytes-to-bytes codec.
class BytesToBytesCodec {
 public:
  virtual ~BytesToBytesCodec() = default;

  // The encoded size of `decoded_size` bytes, when it depends on nothing else.
  virtual std::optional<std::uint64_t> encoded_size(std::uint64_t /*decoded_size*/) const {
    return std::nullopt;
  }

  // The most bytes that `encoded` can decode to, as far as that shows without decoding: asked
  // before memory is, so that a few bytes cannot demand much of it.
  virtual std::uint64_t max_decoded_size(ByteSpan /*encoded*/) const { return UINT64_MAX; }

  virtual Buffer encode(ByteSpan decoded) const = 0;

  // Decodes bytes whose decoded size is known: that of `decoded`. Any other size is an error.
  virtual void decode(ByteSpan encoded, MutableByteSpan decoded) const = 0;

  // Decodes bytes whose decoded size is not known but is at most `max_size`.
  virtual Buffer decode(ByteSpan encoded, std::uint64_t max_size) const = 0;

  // If blocks of the bytes that `encoded` decodes to can be decoded by themselves: the size of each
  // but the last. Throws Error like decode().
  virtual std::optional<std::uint64_t> block_size(ByteSpan /*encoded*/) const {
    return std::nullopt;
  }
  // With block_size(): decodes the block that begins at `offset` of `decoded_size` bytes.
  virtual void decode_block(ByteSpan /*encoded*/, std::uint64_t /*decoded_size*/,
                            std::uint64_t /*offset*/, MutableByteSpan /*block*/) const {}

  // Not null if the payload stands unchanged in the encoded bytes.
  virtual const Framing* framing() const { return nullptr; }
  // With framing(): the payload inside `encoded`, after the check that the frame is for.
  virtual ByteSpan unframe(ByteSpan encoded) const { return encoded; }
};

// A filter of numcodecs: it views the bytes it gets as elements of a type of its own, and makes
// other elements of them. It may stand on either side of the array-to-bytes codec: v2 chains it
// after, v3 before. There, its input is the chunk's elements in C order.
class Filter : public BytesToBytesCodec {
 public:
  // The type of what it encodes to, and, of chunks of `shape`, the shape.
  virtual DataType encoded_type() const = 0;
  // The byte order of the elements that it encodes to.
  virtual Endian encoded_endian() const { return kHostEndian; }
  virtual Shape encoded_shape(const Shape& shape) const { return shape; }
};

// A codec of one of the three kinds, or a filter.
using Codec =
    std::variant<std::unique_ptr<const ArrayToArrayCodec>, std::unique_ptr<const ArrayToBytesCodec>,
                 std::unique_ptr<const BytesToBytesCodec>, std::unique_ptr<const Filter>>;

}  // namespace zarrcore
