// Opening shards for reading: fetching and caching their indexes, and for shards that cannot be
// read in parts, their bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "zarrcore/array/chunk_decoder.h"
#include "zarrcore/array/stored_part.h"
#include "zarrcore/array/stored_shard.h"

namespace zarrcore {

// A shard with its index; the index is null when the shard is missing.
struct OpenShard {
  StoredPart part;
  ShardExtent extent;
  std::shared_ptr<const ShardIndex> index;
};

// Serves one request, as `decoder` does, which must outlive it. Safe to use from several threads at
// once. Throws Error, which names the shard, and ValueChanged when another program replaces the
// value of the shard between two reads.
class ShardReader {
 public:
  ShardReader(Store& store, const ChunkDecoder& decoder) : store_(store), decoder_(decoder) {}

  // Opens a shard. `wants_all`: all of it will be read, so a checksum around it is verified; when
  // only parts of the bytes are read, it cannot be.
  OpenShard open(const StoredPart& shard, bool wants_all) const;

  // Ranges of the open value of a part, of the version that the part refers to.
  static std::optional<std::vector<Buffer>> fetch_ranges(const StoredPart& part,
                                                         std::span<const ByteRange> ranges);

  // Sets whether cached indexes may be used. Not to be called while shards are being opened.
  void use_cached_indexes(bool uses) { uses_cached_indexes_ = uses; }

 private:
  bool is_pinned(const StoredPart& shard) const;
  bool fetch_checked(StoredPart& shard) const;
  bool decompress(StoredPart& shard) const;
  std::shared_ptr<const ShardIndex> read_index(StoredPart& shard, const ShardExtent& extent) const;

  Store& store_;
  const ChunkDecoder& decoder_;
  bool uses_cached_indexes_ = true;
};

}  // namespace zarrcore
