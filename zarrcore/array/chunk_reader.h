// Reading many chunks at once: the second half of Array::read. The first half cuts a selection into
// chunk slices; this half takes the stored parts for them, resolves shards into inner chunks,
// fetches bytes and decodes them into their destinations, in parallel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "zarrcore/array/array.h"
#include "zarrcore/array/array_state.h"
#include "zarrcore/array/chunk_decoder.h"
#include "zarrcore/array/read_ahead.h"
#include "zarrcore/array/read_statistics.h"
#include "zarrcore/array/shard_reader.h"
#include "zarrcore/array/stored_part.h"

namespace zarrcore {

class ChunkReader {
 public:
  // The threads and caches are those of `context`. The array, the context, the converter, which may
  // be null, the options and `ahead` must outlive the reader. If `ahead` is not null, it is where
  // chunks are taken from that have been read ahead, and where those go that are.
  ChunkReader(const ArrayState& array, Context& context, const ElementConverter* converter,
              const ReadOptions& options, ReadAhead* ahead = nullptr);

  void expect(WholeChunks whole_chunks) { decoder_.expect(whole_chunks); }
  // So many requests like this one, which is among them, will need elements of each chunk.
  void expect_requests(std::uint64_t per_chunk) {
    requests_per_chunk_ = per_chunk;
    if (per_chunk > 1) decoder_.expect_reuse();
  }

  // Throws Error, which names the chunk's key. Each stored value is opened once, and all that is
  // read of it, cached or read ahead is of the version that was opened: if another program replaces
  // it meanwhile, all parts are read once more; if that happens again, it is an error. Parts of one
  // shard follow each other, unless they are to be read ahead.
  void read(std::vector<StoredPart> parts);

  // Where the innermost chunk that contains the element `start` of a chunk is stored; see
  // Array::find_stored_range().
  std::optional<StoredRange> find_stored_range(StoredPart chunk,
                                               std::vector<std::uint64_t> start) const;

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

  // Reorders the parts.
  void read_parts(std::span<StoredPart> parts);
  void read_shards(std::span<StoredPart> parts);
  // Adds the parts for the inner chunks of `outer`, a part of a shard. Missing inner chunks are
  // filled at once, and full batches are read at once.
  void expand(const OpenShard& shard, const StoredPart& outer, std::vector<StoredPart>& parts);

  void open_shards(std::span<NeededShard> shards);
  void read_chunks(std::span<StoredPart> chunks);
  bool takes_little_copying(Parts parts) const;
  std::vector<Parts> make_fetches(std::span<StoredPart> chunks) const;
  void read_together(Parts parts);
  // With `ahead_`: takes what has been read ahead; false when the part was not.
  bool take_ahead(const StoredPart& part);
  // Copies what has been read ahead or is cached; false when there is nothing, or something to
  // decode and `may_decode` is false.
  bool copy_kept(const StoredPart& part, bool may_decode);
  void decode(const StoredPart& part, ChunkDecoder::Encoded encoded, DecodedChunk& scratch);
  MeasuredStage measure(ReadStatistics::Count nanoseconds) const {
    return {options_.statistics, nanoseconds};
  }
  std::optional<std::vector<ByteRange>> ranges_of_elements(const StoredPart& part) const;
  std::optional<std::vector<Buffer>> fetch_ranges(const StoredPart& part,
                                                  std::span<const ByteRange> ranges);
  bool read_elements(const StoredPart& part);
  // For inner chunks of a shard whose index could be read.
  static ValueChanged shard_removed();
  // `name` is that of the missing chunk or shard in the message.
  void fill_missing(const StoredPart& part, const std::function<std::string()>& name) const;
  void parallel_for(std::size_t count, const std::function<void(std::size_t)>& body);

  Store& store_;
  Context& context_;
  const ReadOptions& options_;
  std::size_t workers_;  // more than the threads that decode, if the store has parallel requests
  ChunkDecoder decoder_;
  ShardReader shards_;
  ReadAhead* ahead_;
  std::uint64_t requests_per_chunk_ = 1;
};

}  // namespace zarrcore
