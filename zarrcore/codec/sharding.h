// The `sharding_indexed` codec (v3 codecs, "sharding-indexed"): a chunk that is itself a store of
// inner chunks. A shard is the encoded inner chunks, in any order and with gaps if the writer
// likes, and at its start or end an index: for each inner chunk, in C order of their grid, the
// offset and the number of its bytes as two 64-bit integers, both 2^64-1 for one that is not there.
// Offsets count from the start of the shard. The index is an array of shape (inner grid…, 2) and is
// encoded by a chain of its own, whose encoded size must be fixed.
//
// The engine uses this class to read inner chunks without their shard: it fetches the bytes of
// the index, hands them to decode_index(), and fetches the ranges that the index gives. A checksum
// around the shard is checked only by a reader of the whole of it.
#pragma once

#include <memory>

#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/codec_chain.h"

namespace zarrcore {

class ShardIndex {
 public:
  // Of a chunk that is not there, unless it is given other numbers.
  struct Entry {
    std::uint64_t offset = UINT64_MAX;
    std::uint64_t length = UINT64_MAX;
    bool is_present() const { return offset != UINT64_MAX || length != UINT64_MAX; }
  };

  explicit ShardIndex(std::vector<Entry> entries) : entries_(std::move(entries)) {}

  // By position in C order of the inner grid. Throws std::out_of_range.
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
  std::uint64_t inner_count() const { return inner_count_; }
  const CodecChain& inner_chain() const { return *inner_chain_; }

  std::uint64_t encoded_index_size() const { return index_size_; }
  bool index_at_end() const { return index_at_end_; }
  // Throws Error when the index is not right in itself.
  ShardIndex decode_index(ByteSpan encoded_index) const;

  // `entries`, by position in C order of the inner grid.
  Buffer encode_index(std::span<const ShardIndex::Entry> entries) const;
  // Throws Error when an entry that is present cannot be right in a shard of `shard_size` bytes.
  void check_entry(std::size_t position, const ShardIndex::Entry& entry,
                   std::uint64_t shard_size) const;

  std::optional<std::uint64_t> encoded_size() const override { return std::nullopt; }
  std::uint64_t max_encoded_size() const override;
  Buffer encode(ByteSpan decoded) const override;
  void decode(ByteSpan encoded, MutableByteSpan decoded, Arena& arena) const override;
  bool keeps_elements() const override { return inner_chain_->keeps_elements(); }
  void check_kept(ByteSpan encoded) const override;
  const ShardingCodec* as_sharding() const override { return this; }

 private:
  ShardIndex index_of(ByteSpan shard) const;
  // The encoded bytes of an inner chunk that is present.
  static ByteSpan find_inner(ByteSpan shard, const ShardIndex::Entry& entry);
  // Calls `body(position, offset)` for every inner chunk: its position in the index and the byte
  // offset of its first element in the dense chunk.
  template <typename Body>
  void for_each_inner_chunk(const Body& body) const;

  ChunkSpec spec_;
  Shape inner_grid_;
  std::uint64_t inner_count_ = 0;
  std::unique_ptr<const CodecChain> inner_chain_;
  std::unique_ptr<const CodecChain> index_chain_;
  std::uint64_t index_size_ = 0;  // encoded
  bool index_at_end_ = true;
  // How an inner chunk in its own stored order lies in the dense chunk.
  Strides inner_strides_;
  Strides stored_strides_;
};

}  // namespace zarrcore
