// The `sharding_indexed` codec (v3 codecs, "sharding-indexed"): a chunk that is itself a store of
// inner chunks. A shard holds the encoded inner chunks, in any order and possibly with gaps, and at
// its start or end an index. For each inner chunk, in C order of their grid, the index has the
// offset and the number of bytes as two 64-bit integers, both 2^64-1 for a missing one. Offsets
// count from the start of the shard. The index is an array of shape (inner grid…, 2). It is encoded
// by its own codec chain, whose encoded size must be fixed.
//
// The engine reads inner chunks without the rest of their shard (array/stored_shard.h): it fetches
// the bytes at index_offset(), passes them to decode_index(), and fetches the ranges that find()
// returns. A checksum around the shard is only checked when the whole shard is read.
#pragma once

#include <memory>

#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/codec_chain.h"

namespace zarrcore {

class ShardIndex {
 public:
  // The default value is the entry of a missing chunk.
  struct Entry {
    std::uint64_t offset = UINT64_MAX;
    std::uint64_t length = UINT64_MAX;
    bool is_present() const { return offset != UINT64_MAX || length != UINT64_MAX; }
  };

  explicit ShardIndex(std::vector<Entry> entries) : entries_(std::move(entries)) {}

  // The entry at a position, in C order of the inner grid. Throws std::out_of_range.
  const Entry& at(std::size_t position) const { return entries_.at(position); }
  std::size_t size() const { return entries_.size(); }
  std::size_t byte_count() const { return entries_.size() * sizeof(Entry); }

 private:
  std::vector<Entry> entries_;
};

class ShardingCodec final : public ArrayToBytesCodec {
 public:
  // Throws Error when the configuration does not fit chunks of `spec`.
  ShardingCodec(const Json& configuration, const ChunkSpec& spec);

  // In the dimensions of the spec, which is in stored order of the chain that holds this codec.
  const Shape& inner_shape() const { return inner_chain_->spec().shape; }
  const Shape& inner_grid() const { return inner_grid_; }
  std::size_t inner_count() const { return inner_count_; }
  const CodecChain& inner_chain() const { return *inner_chain_; }

  std::size_t encoded_index_size() const { return index_size_; }
  bool index_at_end() const { return index_at_end_; }
  // Where the encoded index starts in a shard of `shard_size` bytes. Throws Error when the shard is
  // too short for it.
  std::uint64_t index_offset(std::uint64_t shard_size) const;
  // Throws Error when an entry of the index is impossible in any shard.
  ShardIndex decode_index(ByteSpan encoded_index) const;

  // `entries`, by position in C order of the inner grid.
  Buffer encode_index(std::span<const ShardIndex::Entry> entries) const;
  // The entry of an inner chunk; nullopt for a missing one. Throws Error when the entry is
  // impossible in a shard of `shard_size` bytes.
  std::optional<ShardIndex::Entry> find(const ShardIndex& index, std::size_t position,
                                        std::uint64_t shard_size) const;

  std::uint64_t max_encoded_size() const override;
  Buffer encode(ByteSpan decoded) const override { return encode(decoded, false); }
  Buffer encode_all(ByteSpan decoded) const override { return encode(decoded, true); }
  void decode(ByteSpan encoded, MutableByteSpan decoded, Arena& arena) const override;
  bool round_trips() const override { return inner_chain_->round_trips(); }
  void check_round_trip(ByteSpan encoded) const override;
  bool assumes_byte_order() const override {
    return inner_chain_->assumes_bytes() || index_chain_->assumes_bytes();
  }
  bool can_encode() const override {
    return inner_chain_->can_encode() && index_chain_->can_encode();
  }
  void state_byte_order(Json& configuration) const override;
  const ShardingCodec* as_sharding() const override { return this; }

 private:
  Buffer encode(ByteSpan decoded, bool stores_empty) const;
  ShardIndex index_of(ByteSpan shard) const;
  // Calls `body` with the encoded bytes of an inner chunk; false for a missing one.
  template <typename Body>
  bool visit_inner(ByteSpan shard, const ShardIndex& index, std::size_t position,
                   const Body& body) const;
  // Calls `body(position, offset)` for every inner chunk: its position in the index and the byte
  // offset of its first element in the dense chunk.
  template <typename Body>
  void for_each_inner_chunk(const Body& body) const;

  ChunkSpec spec_;
  Shape inner_grid_;
  std::size_t inner_count_ = 0;
  std::unique_ptr<const CodecChain> inner_chain_;
  std::unique_ptr<const CodecChain> index_chain_;
  std::size_t index_size_ = 0;  // encoded
  bool index_at_end_ = true;
  // The position of an inner chunk, in its own stored order, in the dense chunk.
  Strides inner_strides_;
  Strides stored_strides_;
};

// The metadata of a shard of inner chunks with these codecs: its index is at the end, with a
// checksum.
CodecMetadata make_sharding_metadata(const Shape& inner_shape,
                                     const std::vector<CodecMetadata>& inner_codecs);

}  // namespace zarrcore
