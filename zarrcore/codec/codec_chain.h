// A codec chain: the codecs of an array (or of a shard's inner chunks, or of a shard's index),
// resolved once for chunks of one shape. Encoding runs them in order, decoding in reverse.
//
// Decoded chunks are in *stored order*: dense and in C order, without the transpose codecs that the
// chain starts with. axis_order() says which dimension of the array each dimension in stored order
// is. Chunks are copied to their destination with permuted strides, so a transposition needs no
// separate pass.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "zarrcore/codec/codec.h"
#include "zarrcore/metadata/codec_metadata.h"

namespace zarrcore {

// A chunk in memory, in stored order.
struct DecodedChunk {
  Buffer elements;
  Arena arena;  // what elements of variable length point to

  std::uint64_t byte_count() const { return elements.size() + arena.byte_count(); }
};

class CodecChain {
 public:
  // Throws Error, which names the codec, when a codec is unknown (unless it need not be
  // understood), is in the wrong place, or has an invalid configuration. Without an array-to-bytes
  // codec, elements are little-endian bytes.
  CodecChain(std::span<const CodecMetadata> codecs, const ChunkSpec& spec);

  const ChunkSpec& spec() const { return spec_; }
  // Dimension i in stored order is dimension axis_order()[i] of spec().
  const std::vector<std::size_t>& axis_order() const { return axis_order_; }
  // The chunk in stored order.
  const ChunkSpec& stored_spec() const { return stored_spec_; }
  // Bytes of a decoded chunk.
  std::uint64_t decoded_size() const { return decoded_size_; }
  // The size of every encoded chunk, if all have the same.
  std::optional<std::uint64_t> encoded_size() const { return encoded_size_; }
  // Returns true if the codecs do not state what array-to-bytes codec or byte order chunks have, so
  // that little-endian bytes are assumed.
  bool assumes_bytes() const { return assumes_bytes_ || array_to_bytes_->assumes_byte_order(); }
  // The first codec that only decodes, itself or inside; empty if chunks can be encoded.
  const std::string& decode_only() const { return decode_only_; }
  bool can_encode() const { return decode_only_.empty(); }
  // The codecs that are run, including assumed ones.
  const std::vector<CodecMetadata>& codecs() const { return codecs_; }
  // More bytes than any sensible encoded chunk has: a store refuses larger values.
  std::uint64_t max_encoded_size() const;
  // The same if no bytes-to-bytes codec makes its input larger. For codecs with chains inside them:
  // room for larger chunks is added once, by the outermost chain.
  std::uint64_t max_uncompressed_size() const {
    return encoded_size_ ? *encoded_size_ : array_to_bytes_->max_encoded_size();
  }

  // `stores_empty`: shards have all of their inner chunks, also those of only the fill value.
  Buffer encode(ByteSpan decoded, bool stores_empty = false) const;
  // The same, but reuses the memory if the bytes do not change. When it throws, `decoded` is
  // unchanged.
  Buffer encode(Buffer&& decoded, bool stores_empty = false) const;
  // Returns true if all elements of a decoded chunk are the fill value, bit for bit.
  bool is_filled(ByteSpan decoded) const;

  // Throws Error when `encoded` is too small to make a chunk, without decoding it.
  void check_plausible(ByteSpan encoded) const;
  // `decoded` has decoded_size() bytes. The memory that elements of variable length point to is
  // allocated in `arena`.
  void decode(ByteSpan encoded, MutableByteSpan decoded, Arena& arena) const;
  // The same into new memory.
  DecodedChunk decode(ByteSpan encoded) const;

  // For codecs with chains inside them: from and to chunks in C order of spec() instead of stored
  // order.
  Buffer encode_from_c_order(ByteSpan chunk) const;
  void decode_to_c_order(ByteSpan encoded, MutableByteSpan chunk, Arena& arena) const;

  // Throws Error when decoding and encoding a stored chunk would change elements.
  void check_round_trip(ByteSpan encoded) const;
  bool round_trips() const { return array_to_bytes_->round_trips(); }

  // The decoded chunk inside `encoded`, if encoding does not change its bytes. Checks frames;
  // throws Error like decode().
  std::optional<ByteSpan> find_decoded(ByteSpan encoded) const;

  // The size in bytes of the blocks of `encoded`, if they can be decoded separately (Blosc). All
  // but the last have this size, and contain whole elements. Throws Error like decode().
  std::optional<std::uint64_t> block_size(ByteSpan encoded) const;
  // Decodes the block that begins at `offset` of the decoded chunk. Only with a block_size().
  void decode_block(ByteSpan encoded, std::uint64_t offset, MutableByteSpan block) const;

  // The sizes in which the first bytes of a chunk can be decoded without the rest, if they can: the
  // multiples of this.
  std::optional<std::uint64_t> prefix_step() const;
  // Returns the first bytes of a chunk; nullopt if this is not possible with these encoded bytes.
  // Only with a prefix_step(). Throws Error like decode().
  std::optional<Buffer> decode_prefix(ByteSpan encoded, std::uint64_t size) const;

  // Returns true if each element has the same place in the encoded chunk as in the decoded one, so
  // that some can be read without the others.
  bool elements_stand_alone() const;
  // Decodes elements in place. Only if elements_stand_alone().
  void decode_elements(MutableByteSpan elements) const;

  // Not null if the chain consists of transposes, a sharding codec, and bytes-to-bytes codecs: then
  // inner chunks can be decoded one by one.
  const ShardingCodec* sharding() const { return sharding_; }
  // Returns true if the bytes-to-bytes codecs only put frames around the shard, so that parts of it
  // can be read from the stored bytes. This and the following functions are for chains with
  // sharding().
  bool shard_is_addressable() const { return is_framed_; }
  const Framing& framing() const { return framing_; }
  // With shard_is_addressable(): throws Error when the frame, as a checksum, does not fit the rest
  // of `encoded`, which has all bytes of a shard.
  void check_frame(ByteSpan encoded) const;
  // Returns true if the encoded shard is the shard, byte for byte.
  bool shard_is_bare() const { return bytes_codecs_.empty(); }
  // Applies the bytes-to-bytes codecs to a shard.
  Buffer encode_shard(Buffer shard) const;
  // The inverse.
  Buffer decode_shard(ByteSpan encoded) const;

 private:
  void add(Codec codec, bool is_known);
  bool all_encode() const;
  // Throws Error with the `problem` where another codec could be meant.
  void add_missing_bytes(bool is_known, const char* problem);
  // The output of the last array-to-array codec, which is the input of the array-to-bytes codec.
  const ChunkSpec& last_spec() const;
  // The strides in C order of spec(), for each dimension in stored order.
  Strides c_order_strides() const;
  // Adds a codec of imagecodecs, which may also precede `bytes` or stand in its place. `endian` is
  // the byte order of `bytes`.
  void add_imagecodecs(std::string_view name, Json configuration, Endian endian, bool is_known);
  // Not null if it is the only codec that changes more than the byte order of elements.
  const BytesToBytesCodec* only_compressor() const;
  // The output of the array-to-bytes codec. It is in `target` if that is given and has the same
  // size, in `held`, or a part of `encoded`.
  ByteSpan decode_bytes(ByteSpan encoded, std::optional<MutableByteSpan> target,
                        Buffer& held) const;

  ChunkSpec spec_;
  std::vector<CodecMetadata> codecs_;
  std::vector<std::size_t> axis_order_;
  ChunkSpec stored_spec_;
  std::vector<std::unique_ptr<const ArrayToArrayCodec>> array_codecs_;  // without the folded ones
  Endian filter_endian_ = Endian::little;  // of the output of the last one, if it is a filter
  std::unique_ptr<const ArrayToBytesCodec> array_to_bytes_;
  std::vector<std::unique_ptr<const BytesToBytesCodec>> bytes_codecs_;
  ChunkSpec bytes_spec_;  // the elements in the output of the last codec that was added
  // The size that each bytes codec decodes to, if it is fixed.
  std::vector<std::optional<std::uint64_t>> bytes_sizes_;
  std::uint64_t decoded_size_ = 0;
  std::optional<std::uint64_t> encoded_size_;
  const ShardingCodec* sharding_ = nullptr;
  bool assumes_bytes_ = false;
  std::string decode_only_;
  bool is_framed_ = true;
  Framing framing_;
};

// Shared by those that decode chunks with it, and by what is cached of them.
using SharedChain = std::shared_ptr<const CodecChain>;

// --- Codecs as a person writes them for a new array (complete_codecs.cpp) ------------------------

// What may be left out follows from the data type and the chunks, as in TensorStore's driver zarr3.

// The default array-to-bytes codec for elements of `type`: `bytes` in little-endian order, or the
// codec for strings or bytes of variable length.
CodecMetadata default_array_to_bytes(const DataType& type);

// Reads a list of codecs, or one codec without a list around it. Errors start with `what`.
std::vector<CodecMetadata> parse_codecs_or_one(const Json& value, std::string_view what);

// Completes codecs: adds the array-to-bytes codec, members that have a default, and the codecs of
// inner chunks and of the index of shards, which are completed as well. `spec` describes the
// chunks. Throws Error, which names the codec, when it is not known, has no default for a member
// that it needs, or has a level that its compressor does not know.
std::vector<CodecMetadata> complete_codecs(std::span<const CodecMetadata> codecs, ChunkSpec spec);

// In n5_block.cpp: the codecs of the elements of `n5_default`, which are transpose codecs, `bytes`,
// and codecs of bytes: with `bytes`, big-endian, where they leave it or its byte order out. Throws
// Error if they state that it is little-endian.
std::vector<CodecMetadata> with_n5_bytes(std::vector<CodecMetadata> codecs, const DataType& type);

}  // namespace zarrcore
