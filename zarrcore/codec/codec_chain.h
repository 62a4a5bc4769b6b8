// A codec chain: the codecs of an array (or of a shard's inner chunks, or of a shard's index), made
// once for chunks of one shape. Encoding runs them in order, decoding in reverse.
//
// Chunks on this side of a chain are in *stored order*: dense and in C order after the transpose
// codecs that lead the chain have been folded away. axis_order() says which dimension of the array
// each dimension in stored order is, so that whoever copies a chunk to its place does so with
// permuted strides, and a transposition costs no pass of its own.
#pragma once

#include <memory>
#include <optional>
#include <span>
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
  // understood), stands in the wrong place, or has a configuration that is not right.
  CodecChain(std::span<const CodecMetadata> codecs, const ChunkSpec& spec);

  const ChunkSpec& spec() const { return spec_; }
  // Dimension i in stored order is dimension axis_order()[i] of spec().
  const std::vector<std::size_t>& axis_order() const { return axis_order_; }
  // The chunk in stored order.
  const ChunkSpec& stored_spec() const { return stored_spec_; }
  // Bytes of a decoded chunk.
  std::uint64_t decoded_size() const { return decoded_size_; }
  // The size of every encoded chunk, when all have the same.
  std::optional<std::uint64_t> encoded_size() const { return encoded_size_; }
  // More bytes than any sensible encoded chunk has: a store refuses larger values.
  std::uint64_t max_encoded_size() const;

  Buffer encode(ByteSpan decoded) const;
  // The same, of memory that becomes the encoded chunk if the bytes do not change; when it throws,
  // `decoded` is as it was.
  Buffer encode(Buffer&& decoded) const;
  // Whether all elements of a decoded chunk are the fill value, bit for bit.
  bool is_filled(ByteSpan decoded) const;

  // Throws Error when `encoded` is too small to make a chunk, without decoding it.
  void check_plausible(ByteSpan encoded) const;
  // `decoded` has decoded_size() bytes. What elements of variable length point to goes into
  // `arena`.
  void decode(ByteSpan encoded, MutableByteSpan decoded, Arena& arena) const;
  // The same into memory of its own.
  DecodedChunk decode(ByteSpan encoded) const;

  // Throws Error when elements of a stored chunk would become others by being decoded and encoded.
  void check_kept(ByteSpan encoded) const;
  bool keeps_elements() const { return array_to_bytes_->keeps_elements(); }

  // If the decoded chunk stands in `encoded` as it is: where. Frames are checked; throws Error like
  // decode().
  std::optional<ByteSpan> find_decoded(ByteSpan encoded) const;

  // If blocks of a chunk can be decoded by themselves: the size in bytes of those of `encoded`.
  // Each but the last has it, and holds whole elements. Throws Error like decode().
  std::optional<std::uint64_t> block_size(ByteSpan encoded) const;
  // With block_size(): decodes the block that begins at `offset` of the decoded chunk.
  void decode_block(ByteSpan encoded, std::uint64_t offset, MutableByteSpan block) const;

  // Whether each element stands in the encoded chunk where it stands in the decoded one, so that
  // some can be had without the others.
  bool elements_stand_alone() const;
  // With elements_stand_alone(): makes elements of their encoded bytes.
  void decode_elements(MutableByteSpan elements) const;

  // Not null if the chain is nothing but transposes, a sharding codec, and bytes-to-bytes codecs:
  // then inner chunks can be decoded one by one.
  const ShardingCodec* sharding() const { return sharding_; }
  // With sharding(): whether the bytes-to-bytes codecs leave the shard as it is, but for a frame,
  // so that parts of it can be read where it is stored.
  bool shard_is_addressable() const { return is_framed_; }
  const Framing& framing() const { return framing_; }
  // With shard_is_addressable(): throws Error when the frame says that `encoded`, all bytes of a
  // shard, is not right.
  void check_frame(ByteSpan encoded) const;
  // With sharding(): whether the encoded shard is the shard, byte for byte.
  bool shard_is_bare() const { return bytes_codecs_.empty(); }
  // With sharding(): what the bytes-to-bytes codecs make of a shard.
  Buffer encode_shard(Buffer shard) const;
  // With sharding(): the shard itself, which the bytes-to-bytes codecs have made `encoded` of.
  Buffer decode_shard(ByteSpan encoded) const;

 private:
  void add(Codec codec);
  // The bytes of the array-to-bytes codec. They end up in `target` if there is one and the bytes
  // have its size, in `held`, or are a part of `encoded`.
  ByteSpan decode_bytes(ByteSpan encoded, std::optional<MutableByteSpan> target,
                        Buffer& held) const;

  ChunkSpec spec_;
  std::vector<std::size_t> axis_order_;
  ChunkSpec stored_spec_;
  std::vector<std::unique_ptr<const ArrayToArrayCodec>> array_codecs_;  // but the folded ones
  Endian filter_endian_ = kHostEndian;  // of what the last of them makes, if it is a filter
  std::unique_ptr<const ArrayToBytesCodec> array_to_bytes_;
  std::vector<std::unique_ptr<const BytesToBytesCodec>> bytes_codecs_;
  ChunkSpec bytes_spec_;  // what the bytes are made of, as far as the codecs have been added
  // The sizes of what each bytes codec decodes to, as far as they are fixed.
  std::vector<std::optional<std::uint64_t>> bytes_sizes_;
  std::uint64_t decoded_size_ = 0;
  std::optional<std::uint64_t> encoded_size_;
  const ShardingCodec* sharding_ = nullptr;
  bool is_framed_ = true;
  Framing framing_;
};

}  // namespace zarrcore
