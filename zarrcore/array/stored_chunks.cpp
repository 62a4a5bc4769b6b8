// Chunks that are found by listing a store: counting them, and changing the shape of an array
// (resize() in array_writer.h).
#include "zarrcore/array/stored_chunks.h"

#include <algorithm>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "zarrcore/array/array_writer.h"
#include "zarrcore/array/chunk_reader.h"
#include "zarrcore/array/thread_pool.h"
#include "zarrcore/base/buffer.h"
#include "zarrcore/base/checked_math.h"
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

// How one dimension changes.
struct ResizedAxis {
  std::uint64_t chunk_length;
  std::uint64_t chunks;  // remaining, at least in part
  std::uint64_t length;  // remaining elements
  bool changes;

  // Returns true if it is the last remaining chunk, and remains only in part.
  bool is_cut(std::uint64_t chunk) const {
    return changes && chunk + 1 == chunks && length % chunk_length != 0;
  }
};

// On several threads.
void erase_chunks(const ArrayState& state, const std::vector<Chunk>& chunks,
                  const WriteOptions& options) {
  constexpr std::size_t kAtOnce = 1000;
  std::vector<std::string> keys;
  keys.reserve(chunks.size());
  for (const Chunk& chunk : chunks) keys.push_back(*state.key_of(chunk));
  state.context->pool.parallel_for(
      memory_size(ceil_divide(keys.size(), kAtOnce)), options.threads,
      [&](std::size_t i) {
        const std::span all(keys);
        state.store->erase_all(
            all.subspan(i * kAtOnce, std::min(kAtOnce, keys.size() - i * kAtOnce)));
      },
      options.worker_scope);
}

// Writes the fill value to all elements of a chunk that do not remain. `whole` is the array
// extended to a multiple of its chunk shape.
void clear_outside(ArrayWriter& writer, const Array& whole, const std::vector<ResizedAxis>& axes,
                   const Chunk& chunk) {
  Selection all;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    all.start.push_back(chunk[i] * axes[i].chunk_length);
    all.count.push_back(axes[i].chunk_length);
  }
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (!axes[i].is_cut(chunk[i])) continue;
    Selection outside = all;
    outside.start[i] = axes[i].length;
    outside.count[i] = axes[i].chunks * axes[i].chunk_length - axes[i].length;
    writer.write(outside, {whole.fill_value().data(), Strides(axes.size(), 0), nullptr});
  }
}

}  // namespace

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

void check_resize(const Array& array, const Shape& new_shape) {
  const ArrayState& state = array.state();
  with_context(state.description, [&] {
    if (new_shape.size() != array.shape().size()) {
      throw Error("the new shape does not have the " + std::to_string(array.shape().size()) +
                  " dimensions of the array");
    }
    if (new_shape == array.shape()) return;
    if (!state.grid.is_regular()) {
      throw Error("an array with a chunk grid that is not regular cannot be resized");
    }
    ChunkGrid::regular(new_shape, array.metadata().chunk_shape);
  });
}

void resize(const Array& array, const Shape& new_shape, const WriteOptions& options) {
  check_resize(array, new_shape);
  const ArrayState& state = array.state();
  with_context(state.description, [&] {
    if (new_shape == array.shape()) return;
    const std::size_t rank = array.shape().size();
    std::vector<ResizedAxis> axes;
    ArrayMetadata padded = array.metadata();
    for (std::size_t i = 0; i < rank; ++i) {
      const std::uint64_t chunk_length = padded.chunk_shape[i];
      const std::uint64_t length = std::min(array.shape()[i], new_shape[i]);
      const std::uint64_t chunks = length == 0 ? 0 : ceil_divide(length, chunk_length);
      const auto padded_length = checked_multiply(chunks, chunk_length);
      if (!padded_length) throw Error("the array is too long to be resized");
      padded.shape[i] = *padded_length;
      axes.push_back({chunk_length, chunks, length, array.shape()[i] != new_shape[i]});
    }

    std::vector<Chunk> outside;
    std::vector<Chunk> cut;
    state.store->visit_values(padded.chunk_prefix, [&](std::string_view key, const auto&) {
      auto chunk = chunk_of_key(array.metadata(), key);
      bool is_outside = false;
      bool is_cut = false;
      for (std::size_t i = 0; chunk && i < rank; ++i) {
        const bool is_beyond = (*chunk)[i] >= axes[i].chunks;
        // Outside of the array before and after.
        if (is_beyond && !axes[i].changes) return;
        is_outside |= is_beyond;
        is_cut |= !is_beyond && axes[i].is_cut((*chunk)[i]);
      }
      if (is_outside) {
        outside.push_back(*std::move(chunk));
      } else if (is_cut) {
        cut.push_back(*std::move(chunk));
      }
    });

    erase_chunks(state, outside, options);
    const auto whole =
        std::make_shared<const Array>(state.store, state.path, std::move(padded), state.context);
    ArrayWriter writer(whole);
    state.context->pool.parallel_for(
        cut.size(), options.threads,
        [&](std::size_t i) { clear_outside(writer, *whole, axes, cut[i]); }, options.worker_scope);
    writer.flush(options);
    state.invalidate_all();
  });
}

}  // namespace zarrcore
