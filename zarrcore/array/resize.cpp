#include "zarrcore/array/resize.h"

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "zarrcore/base/buffer.h"
#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace zarrcore {
namespace {

using Chunk = std::vector<std::uint64_t>;

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

// Returns true if a folder of this name can contain chunks, whose coordinates but the last are
// folders.
bool can_lead_to_chunks(std::string_view name) {
  if (name.starts_with('c')) name.remove_prefix(1);
  return std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
}

// Calls `visit` with every chunk whose key starts with `path`, a folder below the chunk prefix.
void find_chunks_in(Store& store, const ArrayMetadata& metadata, const std::string& path,
                    const std::function<void(Chunk)>& visit) {
  const ChunkKeyEncoding& encoding = metadata.chunk_key_encoding;
  const std::size_t rank = metadata.shape.size();
  const DirectoryListing listing = store.list(join_path(metadata.chunk_prefix, path));
  for (const std::string& name : listing.keys) {
    if (auto chunk = encoding.decode(join_path(path, name), rank)) visit(std::move(*chunk));
  }
  const auto depth = static_cast<std::size_t>(std::ranges::count(path, '/'));
  if (encoding.separator != '/' || (!path.empty() && depth + 1 > rank)) return;
  for (const std::string& name : listing.prefixes) {
    if (can_lead_to_chunks(name)) find_chunks_in(store, metadata, join_path(path, name), visit);
  }
}

void find_chunks(Store& store, const ArrayMetadata& metadata,
                 const std::function<void(Chunk)>& visit) {
  const std::string& prefix = metadata.chunk_prefix;
  if (!store.traits().lists_all_at_once) {
    find_chunks_in(store, metadata, "", visit);
    return;
  }
  for (const std::string& key : store.list_all(prefix)) {
    const auto path = std::string_view(key).substr(prefix.empty() ? 0 : prefix.size() + 1);
    auto chunk = metadata.chunk_key_encoding.decode(path, metadata.shape.size());
    if (chunk) visit(std::move(*chunk));
  }
}

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
    find_chunks(*state.store, array.metadata(), [&](Chunk chunk) {
      bool is_outside = false;
      bool is_cut = false;
      for (std::size_t i = 0; i < rank; ++i) {
        const bool is_beyond = chunk[i] >= axes[i].chunks;
        // Outside of the array before and after.
        if (is_beyond && !axes[i].changes) return;
        is_outside |= is_beyond;
        is_cut |= !is_beyond && axes[i].is_cut(chunk[i]);
      }
      if (is_outside) {
        outside.push_back(std::move(chunk));
      } else if (is_cut) {
        cut.push_back(std::move(chunk));
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
