// Reading many chunks at once: the second half of Array::read. The first half cuts a selection into
// chunk slices; this half takes the stored parts for them, opens shards (fetches and caches their
// indexes), replaces each by the inner chunks that are needed, fetches bytes and decodes them into
// their destinations, in parallel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "zarrcore/array/array.h"
#include "zarrcore/array/chunk_decoder.h"
#include "zarrcore/array/stored_shard.h"

namespace zarrcore {

// A shard with its index; the index is null when the shard is missing.
struct OpenShard {
  StoredPart part;
  ShardExtent extent;
  std::shared_ptr<const ShardIndex> index;
};

// Serves one request.
class ChunkReader {
 public:
  // `cached` is where chunks are cached, mostly ArrayState::cached. It, the array, the converter,
  // which may be null, the options and the request must outlive the reader. Without a request, all
  // chunks of which parts are used are cached.
  ChunkReader(const ArrayState& array, CachedArray& cached, const ElementConverter* converter,
              const ReadOptions& options, AccessPattern::Request* request = nullptr);

  // While it waits for chunks that other threads read, it calls `help` until that returns false.
  void help_with(std::function<bool()> help) { help_ = std::move(help); }

  // Throws Error, which names the chunk's key. Each stored value is opened once, and everything
  // read from it, for this request or for later ones, is of the version that was opened: if
  // another program replaces it meanwhile, all parts are read once more; if that happens again, it
  // is an error. Parts of one shard follow each other, unless they are prefetched.
  void read(std::vector<StoredPart> parts);

  // Where the innermost chunk that contains the element `start` of a chunk is stored; see
  // Array::find_stored_range().
  std::optional<StoredRange> find_stored_range(const StoredPart& chunk,
                                               std::span<const std::uint64_t> start);

  // Where the inner chunks are that an addressable shard has.
  std::vector<ShardIndex::Entry> inner_chunks(const StoredPart& shard) const;

  // How many parts should be passed to read() at once: enough to keep all threads busy, few enough
  // to use little memory compared with their chunks.
  static constexpr std::size_t kBatchSize = 4096;

 private:
  // Parts of one shard, or parts of one value that are fetched with one request.
  using Parts = std::span<const StoredPart>;
  struct NeededShard {
    Parts parts;
    OpenShard opened;
  };

  // Calls `body` once more if another program replaces a value between two of its reads.
  template <typename Body>
  auto of_one_version(const Body& body) {
    try {
      uses_cached_indexes_ = true;
      return body();
    } catch (const ValueChanged&) {
      store_.refresh();
      uses_cached_indexes_ = false;
      return body();
    }
  }

  // Reorders the parts.
  void read_parts(std::span<StoredPart> parts);
  void read_shards(std::span<StoredPart> parts);
  // Sets where the inner chunk at a position of an open shard is; false if it is missing.
  static bool find_inner(const OpenShard& shard, std::size_t position, StoredPart& part);
  // Adds the parts for the inner chunks of `outer`, a part of a shard. Missing inner chunks are
  // filled at once, and full batches are read at once.
  void expand(const OpenShard& shard, const StoredPart& outer, std::vector<StoredPart>& parts);

  void open_shards(std::span<NeededShard> shards);
  void read_chunks(std::span<StoredPart> chunks);
  bool takes_little_copying(Parts parts) const;
  std::vector<Parts> make_fetches(std::span<StoredPart> chunks) const;
  // A part that is not cached, and the entry of the cache that it fills, if it fills one.
  struct Missed {
    const StoredPart* part;
    bool is_known;  // see ChunkDecoder::decode()
    ChunkCache::Filling filling = {};
  };

  void read_together(Parts parts);
  void fetch_together(std::span<Missed> parts);
  // Returns true if a part needs no more work, given the result of looking in the cache.
  bool is_done(const StoredPart& part, ChunkDecoder::Cached cached) const;
  void decode(Missed& missed, ChunkDecoder::Encoded encoded, DecodedChunk& scratch);
  MeasuredStage measure(ReadStatistics::Count nanoseconds) const {
    return {options_.statistics, nanoseconds};
  }
  // For inner chunks of a shard whose index could be read.
  static ValueChanged shard_removed() {
    return ValueChanged("the shard is missing, although its index could be read");
  }
  // `name` returns the name of the missing chunk or shard for the error message.
  void fill_missing(const StoredPart& part, const std::function<std::string()>& name) const;
  void parallel_for(std::size_t count, const std::function<void(std::size_t)>& body);
  // More than the threads that decode, if the store has parallel requests.
  std::size_t workers() const;

  // --- In partial_reads.cpp ---

  // Opens a shard; used by several threads at once. Throws Error, which names the shard, and
  // ValueChanged when another program replaces its value between two reads. `wants_all`: all of it
  // will be read, so a checksum around it is verified; when only parts of the bytes are read, it
  // cannot be.
  OpenShard open_shard(const StoredPart& shard, bool wants_all) const;
  bool is_pinned(const StoredPart& shard) const;
  bool fetch_checked(StoredPart& shard) const;
  bool decompress(StoredPart& shard) const;
  std::shared_ptr<const ShardIndex> read_index(StoredPart& shard, const ShardExtent& extent) const;
  // Ranges of the open value of a part, of the version that the part refers to.
  static std::optional<std::vector<Buffer>> fetch_from_value(const StoredPart& part,
                                                             std::span<const ByteRange> ranges);
  static std::optional<Buffer> fetch_all(const StoredPart& part);

  std::optional<std::vector<ByteRange>> ranges_of_elements(const StoredPart& part) const;
  std::optional<std::vector<Buffer>> fetch_ranges(const StoredPart& part,
                                                  std::span<const ByteRange> ranges);
  bool read_elements(const StoredPart& part);

  const std::string& prefix_;  // of the array's chunks
  Store& store_;
  ThreadPool& pool_;
  const ReadOptions& options_;
  ChunkDecoder decoder_;
  bool uses_cached_indexes_ = true;  // not changed while shards are being opened
  std::function<bool()> help_ = [] { return false; };
};

}  // namespace zarrcore
