// Shards as a writer sees them: the index of the one that is stored, its inner chunks, and putting
// it anew with some of them changed. Nothing is decoded here. The store's shard may be broken or
// hostile: what its index says is checked before it is believed.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "zarrcore/base/buffer.h"
#include "zarrcore/codec/codec_chain.h"
#include "zarrcore/codec/sharding.h"
#include "zarrcore/store/store.h"

namespace zarrcore {

// One state of a shard in a store, whose chain leaves it addressable
// (CodecChain::shard_is_addressable); the shard may be absent. The store and the chain must live as
// long.
class StoredShard {
 public:
  // Reads the index; of a shard with a checksum around it, if `is_checked`, all of it, and checks
  // it. The value stays open until close(). Throws Error when the index cannot be read.
  static StoredShard open(Store& store, std::string key, const CodecChain& chain, bool is_checked);
  // What is read later is read of a value that is opened anew.
  void close() { value_.reset(); }

  bool exists() const { return index_.has_value(); }
  const ValueVersion& version() const { return version_; }
  // Whether the shard as it is now, which is open, has certainly or, where the store cannot tell,
  // by its index the state of this one.
  bool is_good_for(const StoredShard& now) const;

  // Nothing for an inner chunk that is not there. Throws Error when its place cannot be right.
  std::optional<ShardIndex::Entry> find(std::size_t position) const;

  // Bytes of the shard, as it was when its index was read. Throws ValueChanged when it may have
  // changed since: offsets would mean something else.
  Buffer read(std::uint64_t offset, std::uint64_t length) const;
  // The same for a put, which gets them when it is their turn. This object must live as long.
  ValuePart part(std::uint64_t offset, std::uint64_t length) const;

 private:
  StoredShard(Store& store, std::string key, const CodecChain& chain);
  void read_index();
  void read_all();

  Store* store_;
  std::string key_;
  const CodecChain* chain_;
  std::shared_ptr<OpenValue> value_;
  ValueVersion version_;
  ByteRange index_range_;
  Buffer encoded_index_;
  std::optional<Buffer> whole_;  // without what is around it
  std::optional<ShardIndex> index_;
};

// Encoded inner chunks by their position; those that are nothing are to be absent.
using InnerChunks = std::map<std::size_t, std::optional<ByteSpan>>;

// Puts a shard with the inner chunks `changed`. All others stay as they are in `stored`, which is
// open and of which the put copies them piece by piece; without it they become absent. A shard of
// nothing is erased. False when the store has no longer what is in `stored`; then nothing is put.
// If `is_locked`, the thread holds the lock of the shard's folder.
bool put_shard(Store& store, const std::string& key, const CodecChain& chain,
               const InnerChunks& changed, const StoredShard* stored, bool is_locked = false);

}  // namespace zarrcore
