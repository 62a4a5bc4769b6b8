// An array of a store: its metadata, and reading selections of it. One object may be used by
// several threads at once. See array_writer.h for writing.
//
// The engine, which is this folder, from the top:
//
//   array, array_writer, typed_values     what programs call
//   selection                             from a selection to chunks and parts of chunks
//   access_pattern, walk, prefetcher      which chunks come next, and prefetching them
//   chunk_reader, partial_reads           fetching chunks and parts of them, in parallel
//   chunk_decoder                         from their bytes to the caller's elements
//   chunk_cache, cached_items             decoded chunks, and whether they are current
//   pending_chunk, pending_inner_chunk    chunks with written elements, not yet stored
//   array_writer_slices                   encoding and putting them, in parallel
//   stored_shard                          one version of a shard, and putting the next
//   stored_chunks                         chunks found by listing: counting, and changing the shape
//   thread_pool                           loops, and tasks in the background
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "zarrcore/array/access_pattern.h"
#include "zarrcore/array/chunk_cache.h"
#include "zarrcore/array/selection.h"
#include "zarrcore/array/thread_pool.h"
#include "zarrcore/base/api.h"
#include "zarrcore/base/buffer.h"
#include "zarrcore/base/process.h"
#include "zarrcore/chunk/chunk_grid.h"
#include "zarrcore/codec/codec_chain.h"
#include "zarrcore/metadata/array_metadata.h"
#include "zarrcore/store/store.h"

namespace zarrcore {

class Prefetcher;

// What reading took, to find out why it is slow. Safe to use from several threads at once. Chunks
// are inner chunks, if the array has shards; a missing shard counts as one missing chunk.
// Prefetched chunks count when they are used; the time for reading them does not.
struct ReadStatistics {
  std::atomic<std::uint64_t> fetched_chunks{0};
  std::atomic<std::uint64_t> decoded_chunks{0};
  std::atomic<std::uint64_t> cached_chunks{0};
  std::atomic<std::uint64_t> missing_chunks{0};
  // The sum of all threads. Opening shards is a part of fetching.
  std::atomic<std::uint64_t> fetch_nanoseconds{0};
  std::atomic<std::uint64_t> decode_nanoseconds{0};

  using Count = std::atomic<std::uint64_t> ReadStatistics::*;
};

// Measures a stage from its construction to its destruction, unless `statistics` is null.
class MeasuredStage {
 public:
  MeasuredStage(ReadStatistics* statistics, ReadStatistics::Count nanoseconds)
      : statistics_(statistics), nanoseconds_(nanoseconds) {
    if (statistics_ != nullptr) began_ = std::chrono::steady_clock::now();
  }
  ~MeasuredStage() {
    if (statistics_ == nullptr) return;
    const auto passed = std::chrono::steady_clock::now() - began_;
    statistics_->*nanoseconds_ += static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(passed).count());
  }
  MeasuredStage(const MeasuredStage&) = delete;
  MeasuredStage& operator=(const MeasuredStage&) = delete;

 private:
  ReadStatistics* statistics_;
  ReadStatistics::Count nanoseconds_;
  std::chrono::steady_clock::time_point began_;
};

// Adds to a count, unless `statistics` is null.
inline void count_chunks(ReadStatistics* statistics, ReadStatistics::Count count,
                         std::uint64_t chunks = 1) {
  if (statistics != nullptr) statistics->*count += chunks;
}

struct ReadOptions {
  std::size_t threads = 1;
  WorkerScope worker_scope = nullptr;
  // True if it may wait for chunks that other requests are reading. Not if their I/O needs
  // something that the calling thread may hold, as file systems written in Python do.
  bool waits_for_others = true;
  // True if a missing chunk is an error, which names it, instead of the fill value.
  bool missing_chunks_are_errors = false;
  ReadStatistics* statistics = nullptr;  // added to, if not null
  // Makes a scope for work that continues after the read has returned. Null: nothing is prefetched.
  std::function<WorkerScope()> lasting_scope = nullptr;
};

// The resources that the arrays of a program share: threads and a cache, both bounded.
struct Context {
  static constexpr std::uint64_t kDefaultChunkCacheBytes = std::uint64_t{192} << 20;
  static constexpr std::uint64_t kDefaultIndexCacheBytes = std::uint64_t{32} << 20;

  explicit Context(std::uint64_t chunk_cache_bytes = kDefaultChunkCacheBytes,
                   std::uint64_t index_cache_bytes = kDefaultIndexCacheBytes)
      : chunks(chunk_cache_bytes, index_cache_bytes) {
    expect_large_buffers();
  }

  ThreadPool pool;
  ChunkCache chunks;                            // gives up memory for pending chunks
  std::atomic<std::uint64_t> pending_bytes{0};  // of all writers
};

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

// The bytes that the engine requests from a store: the encoded bytes of a chunk, inner chunk or
// shard, and where the selected elements of it go. In stored order (codec_chain.h): the transposes
// of the chain have permuted the dimensions.
struct StoredPart {
  SharedChain chain;
  std::shared_ptr<const std::string> key;  // of the store
  std::uint64_t position = 0;              // see PlaceInValue
  // Inside a shard: the version of the shard's value that `offset` and `length` refer to. It is
  // read through `value`, and items cached from it have this version.
  std::shared_ptr<OpenValue> value;
  ValueVersion version;
  // The encoded bytes are at this place in the value of the key, or, inside a shard that had to be
  // fetched as a whole, in `bytes`.
  std::shared_ptr<const Buffer> bytes;
  std::uint64_t offset = 0;
  std::uint64_t length = kWholeValue;
  // Inside a shard that is inside of a shard, and had to be fetched as a whole: where that is.
  std::optional<std::uint64_t> shard_offset = {};
  std::vector<AxisSlice> axes;
  std::byte* destination = nullptr;        // null: the chunk is only put into the cache
  ChunkCache::Filling* filling = nullptr;  // not null: the chunk is prefetched into this entry

  // Returns true if later reads may use it even if its value has been removed.
  bool is_pinned() const { return destination == nullptr && filling == nullptr; }

  PlaceInValue place() const { return {chain, position}; }
  // For messages.
  std::string name() const {
    if (!shard_offset) return *key;
    return *key + ", inner shard at offset " + std::to_string(*shard_offset);
  }

  // The length of a chunk that is stored as a whole value.
  static constexpr std::uint64_t kWholeValue = UINT64_MAX;
  bool is_whole_value() const { return length == kWholeValue; }
};

// The state of one array that the parts of the engine share: Array owns it; readers, writers,
// pending chunks and resize() get a reference, which must not outlive the array. Pending chunks
// belong to their ArrayWriter, cached chunks to the Context.
struct ArrayState {
  // Throws Error, which names the array, when its metadata cannot be used.
  ArrayState(std::shared_ptr<Store> array_store, std::string array_path,
             ArrayMetadata array_metadata, std::shared_ptr<Context> array_context);

  // Constant from the constructor on.
  const std::shared_ptr<Store> store;
  const std::string path;         // of the node
  const std::string description;  // the store and the array, for messages
  ArrayMetadata metadata;
  const std::shared_ptr<Context> context;
  std::vector<std::byte> fill_value;  // one element: the fill value of missing chunks
  ChunkGrid grid;
  SharedChain first_chain;       // of the first chunk; in a regular grid, of all chunks
  std::uint64_t byte_count = 0;  // of all elements, at most UINT64_MAX
  // if it differs from the key that the key encoding gives
  std::optional<std::string> scalar_key;
  std::unique_ptr<AccessPattern> pattern;  // of its requests

  mutable CachedArray cached;  // in the context's cache
  mutable std::atomic<bool> has_pinned{false};

  // Guarded by `chains_mutex`: codec chains by chunk shape, so many as need little memory.
  mutable ForkMutex chains_mutex;
  mutable std::map<Shape, SharedChain> chains;

  // `chunk` is the position of a chunk in the grid.
  std::shared_ptr<const std::string> key_of(std::span<const std::uint64_t> chunk) const;
  SharedChain chain_of(std::span<const std::uint64_t> chunk) const;
  // See Array.
  Shape inner_chunk_shape() const;
  // The part to read for a chunk slice; `data` is the caller's memory, or null to fill the cache
  // only. `key` is the chunk's key, if it is known.
  StoredPart part_of(const ChunkSlice& slice, std::byte* data,
                     std::shared_ptr<const std::string> key = nullptr) const;
  // Throws Error when a selection or the memory for it does not fit the array.
  void check_read(const Selection& selection, const Destination& destination) const;
  // Reads that begin later see the values that have been put: for one key of the store, or for all.
  // Takes the same time however many other items are cached.
  void invalidate_value(const std::string& key) const { context->chunks.erase_value(cached, key); }
  void invalidate_all() const { context->chunks.erase_all(cached); }

 private:
  void make_fill_value();
  SharedChain chain_for(const Shape& chunk_shape) const;
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
