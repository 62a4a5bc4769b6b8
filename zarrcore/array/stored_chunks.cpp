#include "zarrcore/array/stored_chunks.h"

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "zarrcore/array/array_state.h"
#include "zarrcore/array/chunk_reader.h"
#include "zarrcore/array/shard_reader.h"
#include "zarrcore/array/thread_pool.h"
#include "zarrcore/base/error.h"
#include "zarrcore/codec/sharding.h"

namespace zarrcore {
namespace {

using Chunk = std::vector<std::uint64_t>;

// Reads the indexes of some shards in parallel.
void count_inner_chunks(const Array& array, std::vector<Chunk>& shards, const ReadOptions& options,
                        StoredChunks& counted) {
  std::mutex mutex;  // guards `counted`
  array.state().context->pool.parallel_for(
      shards.size(), options.threads,
      [&](std::size_t i) {
        const auto inner = read_inner_chunks(array, shards[i], options);
        const std::lock_guard lock(mutex);
        *counted.inner_chunks += inner.size();
        for (const ShardIndex::Entry& entry : inner) *counted.inner_bytes += entry.length;
      },
      options.worker_scope);
  shards.clear();
}

}  // namespace

std::optional<StoredRange> ChunkReader::find_stored_range(const StoredPart& chunk,
                                                          std::span<const std::uint64_t> start) {
  return of_one_version([&]() -> std::optional<StoredRange> {
    StoredPart part = chunk;
    Shape in_part(start.begin(), start.end());
    while (const ShardingCodec* sharding = part.chain->sharding()) {
      const OpenShard shard = shards_.open(part, false);
      if (!shard.index) return std::nullopt;
      const std::vector<std::size_t>& order = part.chain->axis_order();
      Shape in_inner;
      std::size_t position = 0;
      for (std::size_t i = 0; i < order.size(); ++i) {
        const std::uint64_t length = sharding->inner_shape()[i];
        position = static_cast<std::size_t>(position * sharding->inner_grid()[i] +
                                            in_part[order[i]] / length);
        in_inner.push_back(in_part[order[i]] % length);
      }
      part = {};
      if (!find_inner(shard, position, part)) return std::nullopt;
      in_part = std::move(in_inner);
    }
    if (part.is_whole_value()) return StoredRange{*part.key};
    return StoredRange{*part.key, part.offset, part.length, part.bytes != nullptr};
  });
}

std::vector<ShardIndex::Entry> ChunkReader::inner_chunks(const StoredPart& shard) const {
  std::vector<ShardIndex::Entry> entries;
  const OpenShard open = shards_.open(shard, false);
  for (std::size_t i = 0; open.index && i < open.index->size(); ++i) {
    if (const auto entry = open.extent.find(*open.index, i)) entries.push_back(*entry);
  }
  return entries;
}

bool has_addressable_shards(const Array& array) {
  const CodecChain& chain = *array.state().first_chain;
  return chain.sharding() != nullptr && chain.shard_is_addressable();
}

std::vector<ShardIndex::Entry> read_inner_chunks(const Array& array,
                                                 std::span<const std::uint64_t> chunk,
                                                 const ReadOptions& options) {
  const ArrayState& state = array.state();
  StoredPart shard;
  shard.chain = state.chain_of(chunk);
  shard.key = state.key_of(chunk);
  return ChunkReader(state, state.cached, nullptr, options).inner_chunks(shard);
}

std::optional<std::vector<std::uint64_t>> chunk_of_key(const ArrayMetadata& array,
                                                       std::string_view key) {
  const std::string& prefix = array.chunk_prefix;
  key.remove_prefix(prefix.empty() ? 0 : prefix.size() + 1);
  return array.chunk_key_encoding.decode(key, array.shape.size());
}

Selection selection_of(const ChunkGrid& grid, std::span<const std::uint64_t> chunk) {
  Selection selection;
  for (std::size_t i = 0; i < chunk.size(); ++i) {
    selection.start.push_back(grid.dimension(i).chunk_start(chunk[i]));
    selection.count.push_back(grid.dimension(i).chunk_extent(chunk[i]));
  }
  return selection;
}

bool is_in_grid(std::span<const std::uint64_t> chunk, const ChunkGrid& grid) {
  for (std::size_t i = 0; i < chunk.size(); ++i) {
    if (chunk[i] >= grid.dimension(i).chunk_count()) return false;
  }
  return true;
}

void visit_stored_chunks(const Array& array, const VisitStoredChunk& visit) {
  const ArrayState& state = array.state();
  const std::string& prefix = state.metadata.chunk_prefix;
  bool has_listed = false;
  state.store->visit_values(prefix, [&](std::string_view key, std::optional<std::uint64_t> size) {
    has_listed = true;
    auto chunk = chunk_of_key(state.metadata, key);
    if (chunk && is_in_grid(*chunk, state.grid)) visit(*std::move(chunk), size);
  });
  // The documents of the array are among them in most formats.
  if (!has_listed && (prefix == state.path || state.store->traits().parallel_requests > 1)) {
    throw Error("the store does not list its values, so the stored chunks are not known");
  }
}

StoredChunks count_stored_chunks(const Array& array, bool reads_indexes,
                                 const ReadOptions& options) {
  const ArrayState& state = array.state();
  return with_context(state.description, [&] {
    constexpr std::size_t kShardsAtOnce = 1024;
    StoredChunks counted;
    if (reads_indexes && has_addressable_shards(array)) {
      counted.inner_chunks = 0;
      counted.inner_bytes = 0;
    }
    std::vector<Chunk> shards;
    visit_stored_chunks(array, [&](Chunk chunk, std::optional<std::uint64_t> size) {
      ++counted.chunks;
      counted.bytes = counted.bytes && size ? std::optional(*counted.bytes + *size) : std::nullopt;
      if (!counted.inner_chunks) return;
      shards.push_back(std::move(chunk));
      if (shards.size() == kShardsAtOnce) count_inner_chunks(array, shards, options, counted);
    });
    count_inner_chunks(array, shards, options, counted);
    return counted;
  });
}

}  // namespace zarrcore
