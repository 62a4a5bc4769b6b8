// An array of a store: its metadata, and reading regions of it. One object may be used by several
// threads at once. Writing is array_writer.h's.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "zarrcore/array/context.h"
#include "zarrcore/array/selection.h"
#include "zarrcore/base/strided.h"
#include "zarrcore/chunk/chunk_grid.h"
#include "zarrcore/codec/codec_chain.h"
#include "zarrcore/metadata/array_metadata.h"
#include "zarrcore/store/store.h"

namespace zarrcore {

// Where the elements of a selection go. Element (i, j, …) of the selection, counted in selected
// elements, is written at data + i * strides[0] + j * strides[1] + …, in bytes.
struct Destination {
  std::byte* data = nullptr;
  Strides strides;
  // Makes the caller's type of the array's; null when they are the same. Elements of variable
  // length (base/arena.h) need one, for what they point to goes away.
  const ElementConverter* converter = nullptr;
};

struct ReadOptions {
  std::size_t threads = 1;
  WorkerScope worker_scope = nullptr;
};

// Where the store keeps the bytes of a block: `length` of them from `offset` on in the value of
// `key`, or without a length all of it, if it is there.
struct StoredBlock {
  std::string key;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length = {};
};

struct ChunkPart;
struct ChunkSlice;
struct WriteOptions;

class Array {
 public:
  // `path` is the node's. Throws Error, which names the array, when its metadata cannot be used:
  // unknown codecs, chunk shapes that do not fit…
  Array(std::shared_ptr<Store> store, std::string path, ArrayMetadata metadata,
        std::shared_ptr<Context> context);
  ~Array();
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  const std::string& path() const { return path_; }
  const ArrayMetadata& metadata() const { return metadata_; }
  const Shape& shape() const { return metadata_.shape; }
  const DataType& data_type() const { return metadata_.data_type; }
  // One element, as absent chunks have it.
  const std::vector<std::byte>& fill_value() const { return fill_value_; }

  // The shape of what is decoded at once: of an inner chunk if the array is sharded, else of a
  // chunk.
  Shape block_shape() const;

  // The stored bytes of the block at a position of the grid of blocks (of block_shape()). Nothing
  // when they are known to be absent, or do not stand by themselves, in a shard that is compressed
  // as a whole. Throws Error on a position outside, and for grids that are not regular.
  std::optional<StoredBlock> find_block(std::span<const std::uint64_t> position) const;

  // Reads a selection. Chunks are fetched and decoded on up to `options.threads` threads, straight
  // to their place where they can be. Chunks that are used in part stay in the context's cache.
  // Throws Error, which names array and chunk; the destination is then partly written.
  void read(const Selection& selection, const Destination& destination,
            const ReadOptions& options = {}) const;

  // Decodes all chunks that a selection meets into the context's cache, for reads that follow, also
  // when the chunks are removed before them.
  void prefetch(const Selection& selection, const ReadOptions& options = {}) const;

  // Makes reads that begin later see what others have put into stores that do not know by
  // themselves that a value has changed.
  void refresh() const;

  // Bytes of the decoded chunks that a selection with steps of 1 meets; nothing when they are more
  // than 2^64.
  std::optional<std::uint64_t> decoded_bytes(const Selection& selection) const;

  // Like the above for the array's own type and a dense destination in C order of `size` bytes.
  // Throws Error when that is not the size of the selection.
  void read(const Selection& selection, void* destination, std::size_t size,
            const ReadOptions& options = {}) const;

 private:
  friend class ArrayWriter;
  friend class PendingChunk;
  friend void resize(const Array& array, const Shape& new_shape, const WriteOptions& options);

  // Makes reads that begin later see what has been put since.
  void forget_cached() const;
  // The store and the array, for messages.
  std::string description() const;
  std::shared_ptr<const std::string> key_of(std::span<const std::uint64_t> chunk) const;
  void make_fill_value();
  const CodecChain& chain_of(const Shape& chunk_shape) const;
  // Throws Error when a selection or the memory that it goes to does not fit.
  void check_read(const Selection& selection, const Destination& destination) const;
  // What is read of a chunk; `data` is the caller's memory, or null.
  ChunkPart part_of(const ChunkSlice& slice, std::byte* data) const;
  // Without memory in `destination`, chunks go to the cache alone.
  void read_selection(const Selection& selection, const Destination& destination,
                      const ReadOptions& options) const;

  std::shared_ptr<Store> store_;
  std::string path_;
  ArrayMetadata metadata_;
  std::shared_ptr<Context> context_;
  mutable std::atomic<bool> has_prefetched_{false};
  mutable std::atomic<std::uint64_t> id_;  // of this object and its values, for the caches
  std::vector<std::byte> fill_value_;
  ChunkGrid grid_;
  // By the shape of the chunks they are for; a regular grid has one, that of the first chunk.
  mutable std::mutex chains_mutex_;
  mutable std::map<Shape, std::unique_ptr<const CodecChain>> chains_;
  const CodecChain* first_chain_ = nullptr;
  std::optional<std::string> scalar_key_;  // where it is not the one that the encoding gives
};

}  // namespace zarrcore
