// An array of a store: its metadata, and reading selections of it. One object may be used by
// several threads at once. See array_writer.h for writing.
//
// The engine, which is this folder, from the top:
//
//   array, array_writer, resize, typed_values   what programs call
//   selection, read_options                     elements, options, and threads with a cache
//   array_state                                 what the parts of the engine share of an array
//   access_pattern, walk, prefetcher            which chunks come next, and prefetching them
//   chunk_walk, stored_part                     from a selection to chunks and parts of values
//   chunk_reader, element_reads, shard_reader   fetching these parts, in parallel
//   chunk_decoder                               from their bytes to the caller's elements
//   chunk_cache, cached_items                   decoded chunks, and whether they are current
//   pending_chunk, pending_inner_chunk          chunks with written elements, not yet stored
//   array_writer_slices                         encoding and putting them, in parallel
//   stored_shard                                one version of a shard, and putting the next
//   thread_pool                                 loops, and tasks in the background
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "zarrcore/array/array_state.h"
#include "zarrcore/array/read_options.h"
#include "zarrcore/array/selection.h"
#include "zarrcore/base/api.h"
#include "zarrcore/metadata/array_metadata.h"
#include "zarrcore/store/store.h"

namespace zarrcore {

class Prefetcher;

// Where the store has the bytes of a chunk or inner chunk: `length` bytes from `offset` on in the
// value of `key`, or without a length the whole value, if it exists.
struct StoredRange {
  std::string key;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length = {};
  // True if the range is one of a shard that is compressed as a whole: no stored bytes belong to
  // the inner chunk alone.
  bool is_in_compressed_shard = false;
};

class ZARRCORE_API Array {
 public:
  // `path` is the node's. Throws Error, which names the array, when its metadata cannot be used:
  // unknown codecs, chunk shapes that do not fit…
  Array(std::shared_ptr<Store> store, std::string path, ArrayMetadata metadata,
        std::shared_ptr<Context> context);
  ~Array();
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  const std::string& path() const { return state_.path; }
  const ArrayMetadata& metadata() const { return state_.metadata; }
  const Shape& shape() const { return metadata().shape; }
  const DataType& data_type() const { return metadata().data_type; }
  // One element: the fill value of missing chunks.
  const std::vector<std::byte>& fill_value() const { return state_.fill_value; }

  // The shape that is decoded at once: the inner chunk's if the array is sharded, else the chunk's.
  Shape inner_chunk_shape() const { return state_.inner_chunk_shape(); }
  // See CodecChain::can_encode().
  bool can_encode() const { return state_.first_chain->can_encode(); }
  // See CodecChain::assumes_bytes().
  bool assumes_bytes() const { return state_.first_chain->assumes_bytes(); }

  // Returns where the inner chunk at a position of the grid of inner chunks (inner_chunk_shape())
  // is stored. Nullopt if it is known to be missing. A shard that is compressed as a whole is read
  // for that. Throws Error for a position outside of the grid, and for grids that are not regular.
  std::optional<StoredRange> find_stored_range(std::span<const std::uint64_t> position) const;

  // Reads a selection. Chunks are fetched and decoded on up to `options.threads` threads, straight
  // into the destination where possible. Chunks of which only a part is used are cached in the
  // context. Throws Error, which names array and chunk; the destination is then partly written.
  //
  // With `options.lasting_scope`, the next chunks of reads that walk through the array are
  // prefetched: see prefetcher.h.
  void read(const Selection& selection, const Destination& destination,
            const ReadOptions& options = {}) const;

  // The same for the array's own type and a dense destination in C order of `size` bytes. Throws
  // Error when that is not the size of the selection.
  void read(const Selection& selection, void* destination, std::size_t size,
            const ReadOptions& options = {}) const;

  // Decodes all chunks that a selection meets into the context's cache, for later reads, even if
  // the chunks have been removed by the time of these reads.
  void prefetch(const Selection& selection, const ReadOptions& options = {}) const;

  // Announces that a selection will be read, in parts from its start to its end. With options that
  // allow prefetching, it then starts with the first read.
  void expect_reads(const Selection& selection, const ReadOptions& options) const;

  // Makes reads that begin later see the puts of other programs, also in stores that cannot tell
  // that a value has changed.
  void refresh() const;

  // The decoded size in bytes of the chunks that a selection with steps of 1 meets; nullopt when it
  // exceeds 2^64.
  std::optional<std::uint64_t> decoded_bytes(const Selection& selection) const;

  // For the other parts of the engine.
  const ArrayState& state() const { return state_; }

 private:
  // Without memory in `destination`, chunks are only put into the cache.
  void read_selection(const Selection& selection, const Destination& destination,
                      const ReadOptions& options) const;

  // Null if nothing is to be prefetched.
  Prefetcher* prefetcher(const ReadOptions& options) const;

  ArrayState state_;
  mutable std::once_flag prefetches_;
  mutable std::unique_ptr<Prefetcher> prefetcher_;  // from the first read that may
};

}  // namespace zarrcore
