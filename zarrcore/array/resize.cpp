#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "zarrcore/array/array_writer.h"
#include "zarrcore/array/stored_chunks.h"
#include "zarrcore/base/buffer.h"
#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"

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
