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

bool is_in_grid(const Chunk& chunk, const ChunkGrid& grid) {
  for (std::size_t i = 0; i < chunk.size(); ++i) {
    if (chunk[i] >= grid.dimension(i).chunk_count()) return false;
  }
  return true;
}

// Reads the indexes of some shards in parallel.
void count_inner_chunks(const ArrayState& state, std::vector<Chunk>& shards,
                        const ReadOptions& options, StoredChunks& counted) {
  std::mutex mutex;  // guards `counted`
  state.context->pool.parallel_for(
      shards.size(), options.threads,
      [&](std::size_t i) {
        StoredPart shard;
        shard.chain = &state.chain_of(shards[i]);
        shard.key = state.key_of(shards[i]);
        const ChunkReader reader(state, state.cached, nullptr, options);
        const auto inner = reader.count_inner_chunks(shard);
        const std::lock_guard lock(mutex);
        *counted.inner_chunks += inner.chunks;
        *counted.inner_bytes += inner.bytes;
      },
      options.worker_scope);
  shards.clear();
}

}  // namespace

ChunkReader::InnerChunks ChunkReader::count_inner_chunks(const StoredPart& shard) const {
  InnerChunks counted;
  const OpenShard open = shards_.open(shard, false);
  for (std::size_t i = 0; open.index && i < open.index->size(); ++i) {
    const auto entry = open.extent.find(*open.index, i);
    if (!entry) continue;
    ++counted.chunks;
    counted.bytes += entry->length;
  }
  return counted;
}

StoredChunks count_stored_chunks(const Array& array, bool reads_indexes,
                                 const ReadOptions& options) {
  const ArrayState& state = array.state();
  return with_context(state.description, [&] {
    constexpr std::size_t kShardsAtOnce = 1024;
    const ArrayMetadata& metadata = state.metadata;
    const std::string& prefix = metadata.chunk_prefix;
    StoredChunks counted;
    if (reads_indexes && state.first_chain != nullptr && state.first_chain->sharding() != nullptr &&
        state.first_chain->shard_is_addressable()) {
      counted.inner_chunks = 0;
      counted.inner_bytes = 0;
    }
    bool has_listed = false;
    std::vector<Chunk> shards;
    state.store->visit_values(prefix, [&](std::string_view key, std::optional<std::uint64_t> size) {
      has_listed = true;
      key.remove_prefix(prefix.empty() ? 0 : prefix.size() + 1);
      auto chunk = metadata.chunk_key_encoding.decode(key, metadata.shape.size());
      if (!chunk || !is_in_grid(*chunk, state.grid)) return;
      ++counted.chunks;
      counted.bytes = counted.bytes && size ? std::optional(*counted.bytes + *size) : std::nullopt;
      if (!counted.inner_chunks) return;
      shards.push_back(*std::move(chunk));
      if (shards.size() == kShardsAtOnce) count_inner_chunks(state, shards, options, counted);
    });
    // The documents of the array are among them in most formats.
    if (!has_listed && (prefix == state.path || state.store->traits().parallel_requests > 1)) {
      throw Error("the store does not list its values, so the stored chunks are not known");
    }
    count_inner_chunks(state, shards, options, counted);
    return counted;
  });
}

}  // namespace zarrcore
