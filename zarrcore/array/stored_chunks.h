// Which chunks of an array are stored, found by listing its store.
#pragma once

#include <cstdint>
#include <optional>

#include "zarrcore/array/array.h"
#include "zarrcore/array/read_options.h"
#include "zarrcore/base/api.h"

namespace zarrcore {

struct StoredChunks {
  std::uint64_t chunks = 0;
  std::optional<std::uint64_t> bytes = 0;  // nullopt if listing does not show all sizes
  // Of shards: their inner chunks, by the indexes. Nullopt without shards, if they are compressed
  // as a whole, or if only chunks are counted. In shards in shards, the inner chunks are shards.
  std::optional<std::uint64_t> inner_chunks = {};
  std::optional<std::uint64_t> inner_bytes = {};
};

// Lists all values of the array, in as many requests as that takes, and with `reads_indexes` reads
// the index of each shard; chunks are not read. Memory does not grow with their number if the store
// lists one folder after the other. Throws Error, also if the store does not list what it has.
ZARRCORE_API StoredChunks count_stored_chunks(const Array& array, bool reads_indexes,
                                              const ReadOptions& options);

}  // namespace zarrcore
