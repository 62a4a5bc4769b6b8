// Putting a shard with some of its inner chunks changed. Nothing is decoded here.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "zarrcore/array/stored_shard.h"
#include "zarrcore/base/buffer.h"
#include "zarrcore/codec/codec_chain.h"
#include "zarrcore/store/store.h"

namespace zarrcore {

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
