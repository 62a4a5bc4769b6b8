// Which chunks of an array are stored, found by listing its store.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "zarrcore/array/array.h"
#include "zarrcore/base/api.h"
#include "zarrcore/codec/sharding.h"

namespace zarrcore {

struct StoredChunks {
  std::uint64_t chunks = 0;
  std::optional<std::uint64_t> bytes = 0;  // nullopt if listing does not show all sizes
  // Of shards: their inner chunks, by the indexes. Nullopt without shards, if they are compressed
  // as a whole, or if only chunks are counted. In shards in shards, the inner chunks are shards.
  std::optional<std::uint64_t> inner_chunks = {};
  std::optional<std::uint64_t> inner_bytes = {};
};

// Calls `visit` for all stored chunks of the array, in any order: with the position in the grid,
// and the size in bytes, if listing shows it. Lists all values of the array, with as many requests
// as needed. Memory use does not grow with the number of values if the store lists one folder after
// another. Throws Error, also if the store cannot list its keys.
using VisitStoredChunk =
    std::function<void(std::vector<std::uint64_t> chunk, std::optional<std::uint64_t> size)>;
ZARRCORE_API void visit_stored_chunks(const Array& array, const VisitStoredChunk& visit);

// Counts them. With `reads_indexes`, reads the index of each shard as well; chunks are not read.
ZARRCORE_API StoredChunks count_stored_chunks(const Array& array, bool reads_indexes,
                                              const ReadOptions& options);

// Returns true if the chunks of the array are shards that are not compressed as a whole.
bool has_addressable_shards(const Array& array);
// Of such an array: where the inner chunks of one shard are, in the order of its index, without
// missing ones. Throws Error, which names the shard, when the index cannot be read. Its entries may
// be outside of the shard, whose size is not known.
std::vector<ShardIndex::Entry> read_inner_chunks(const Array& array,
                                                 std::span<const std::uint64_t> chunk,
                                                 const ReadOptions& options);

// The position of the chunk with a key below the chunks of an array; nullopt if no chunk has it.
std::optional<std::vector<std::uint64_t>> chunk_of_key(const ArrayMetadata& array,
                                                       std::string_view key);
// The elements of a chunk that are inside the array.
Selection selection_of(const ChunkGrid& grid, std::span<const std::uint64_t> chunk);
bool is_in_grid(std::span<const std::uint64_t> chunk, const ChunkGrid& grid);

}  // namespace zarrcore
