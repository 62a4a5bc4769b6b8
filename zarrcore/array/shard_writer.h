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

// A shard in a store, whose chain leaves it addressable (CodecChain::shard_is_addressable). The
// store and the chain must live as long.
class StoredShard {
 public:
  // Nothing when the shard is absent. Throws Error when the index cannot be read.
  static std::optional<StoredShard> open(Store& store, std::string key, const CodecChain& chain);

  // Nothing for an inner chunk that is not there. Throws Error when its place cannot be right.
  std::optional<ShardIndex::Entry> find(std::size_t position) const;

  // Bytes of the shard, as it was when its index was read. Throws Error when it has changed since:
  // offsets would mean something else.
  Buffer read(std::uint64_t offset, std::uint64_t length) const;

 private:
  StoredShard(Store& store, std::string key, const CodecChain& chain, ByteRange index_range,
              Buffer encoded_index);

  Store* store_;
  std::string key_;
  const CodecChain* chain_;
  ByteRange index_range_;
  Buffer encoded_index_;
  ShardIndex index_;
};

// Encoded inner chunks by their position; those that are nothing are to be absent.
using InnerChunks = std::map<std::size_t, std::optional<ByteSpan>>;

// Puts a shard with the inner chunks `changed`. If `keeps_others`, all others stay as they are
// stored, and are copied piece by piece; else they become absent. A shard of nothing is erased.
void put_shard(Store& store, const std::string& key, const CodecChain& chain,
               const InnerChunks& changed, bool keeps_others);

}  // namespace zarrcore
