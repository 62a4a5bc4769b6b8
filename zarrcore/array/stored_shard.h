// A shard in a store: where its index and its inner chunks are, fetching them, all from one version
// of its value, and putting the shard with some inner chunks changed. Reading (chunk_reader.h) and
// writing (pending_chunk.h) share this. The stored shard may be broken or hostile: entries of its
// index are checked before they are used. Nothing is decoded here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "zarrcore/base/buffer.h"
#include "zarrcore/codec/codec_chain.h"
#include "zarrcore/codec/sharding.h"
#include "zarrcore/store/store.h"

namespace zarrcore {

// Reads ranges of an open value. Throws ValueChanged unless `is_same()` is true afterwards: then
// the value still has the version that the ranges are meant for.
template <typename IsSame>
std::optional<std::vector<Buffer>> get_ranges_of_version(OpenValue& value,
                                                         std::span<const ByteRange> ranges,
                                                         const IsSame& is_same) {
  try {
    auto parts = value.get_ranges(ranges);
    if (!is_same()) throw ValueChanged();
    return parts;
  } catch (const Error&) {
    // Ranges of a longer value are outside of a shorter one.
    if (!is_same()) throw ValueChanged();
    throw;
  }
}

// Where an encoded shard is in a value: `length` bytes from `offset` on, or without a length the
// whole value, whose size is not known.
struct ShardExtent {
  const ShardingCodec* sharding = nullptr;
  Framing framing = {};  // around the shard itself
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length = {};

  // The range of the value that begins with the encoded index. It may include the frame after the
  // index. Throws Error when the shard is too short.
  ByteRange index_range() const;
  // The encoded index in the bytes of the value.
  ByteSpan encoded_index(ByteSpan value) const;
  // Where an inner chunk is in the value; nullopt for a missing one. Throws Error when the index
  // entry is impossible.
  std::optional<ShardIndex::Entry> find(const ShardIndex& index, std::size_t position) const;

 private:
  std::uint64_t payload_size() const;
};

// The index of a shard as it is stored.
struct StoredIndex {
  Buffer encoded;
  ShardIndex index;
};

// Fetches and decodes the index of a shard; nullopt when the value is absent. Throws ValueChanged
// when the open value certainly has another version than `version`.
std::optional<StoredIndex> fetch_index(OpenValue& value, const ShardExtent& extent,
                                       const ValueVersion& version = {});

// One version of a shard that is a whole value, for a writer. Its codec chain leaves the shard
// addressable (CodecChain::shard_is_addressable); the shard may be missing. The store and the chain
// must outlive this object.
class StoredShard {
 public:
  // Reads the index. If the chain puts a checksum around the shard and `is_checked` is set, reads
  // the whole shard and verifies it. The value stays open until close(). Throws Error when the
  // index cannot be read.
  StoredShard(Store& store, std::string key, const CodecChain& chain, bool is_checked);
  // Later reads open the value again.
  void close() { value_.reset(); }

  bool exists() const { return stored_.has_value(); }
  const ValueVersion& version() const { return version_; }
  // Returns true if `now`, which is open, is the same version of the shard: certainly, or, where
  // the store does not know versions, because it has the same index.
  bool is_valid_for(const StoredShard& now) const;

  // Where an inner chunk is, for read() and part(); nullopt for a missing one. Throws Error when
  // the index entry is impossible.
  std::optional<ShardIndex::Entry> find(std::size_t position) const;

  // Bytes of the shard, of the version that its index was read from. Throws ValueChanged when the
  // shard may have changed since.
  Buffer read(std::uint64_t offset, std::uint64_t length) const;
  // The same for a put, which reads the bytes when it needs them: this object must outlive the put.
  // Nothing is read after the last part.
  ValuePart part(std::uint64_t offset, std::uint64_t length, bool is_last) const;
  // No more reads follow: the shard is about to be replaced.
  void release() const;

 private:
  Store* store_;
  std::string key_;
  const CodecChain* chain_;
  std::shared_ptr<OpenValue> value_;
  ValueVersion version_;
  ShardExtent extent_;           // in the value, or in `whole_`
  std::optional<Buffer> whole_;  // the verified shard, without its frame
  std::optional<StoredIndex> stored_;
};

// Encoded inner chunks and their positions, in ascending order; nullopt removes one.
using InnerChunks = std::vector<std::pair<std::size_t, std::optional<ByteSpan>>>;

// Puts a shard with the inner chunks `changed`. All others stay as they are in `stored`, which is
// open, and are copied from it piece by piece; without `stored` they are removed. A shard without
// inner chunks is erased. Returns false and puts nothing when the store no longer has the version
// that the options expect.
bool put_shard(Store& store, const std::string& key, const CodecChain& chain,
               const InnerChunks& changed, const StoredShard* stored,
               const PutOptions& options = {});

}  // namespace zarrcore
