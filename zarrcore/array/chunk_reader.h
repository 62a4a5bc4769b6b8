// Reading many chunks at once: the second half of Array::read. The first half cuts a selection
// along the chunk grid; this one takes the parts, resolves shards into inner chunks, fetches bytes
// and has them decoded to their place, in parallel.
//
// Everything here is in stored order (codec_chain.h): the dimensions of a part are already permuted
// by the transposes of its chain.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "zarrcore/array/array.h"
#include "zarrcore/array/chunk_decoder.h"
#include "zarrcore/array/chunk_walk.h"

namespace zarrcore {

class ChunkReader {
 public:
  ChunkReader(Store& store, Context& context, std::uint64_t array_id,
              std::span<const std::byte> fill_value, std::uint64_t item_size,
              const ElementConverter* converter, const ReadOptions& options);

  // Throws Error, which names the chunk's key. What is read of one shard is of one state of its
  // value: when another program replaces it meanwhile, all shards are read once more, and then
  // it is an error.
  void read(std::vector<ChunkPart> parts);

  // Where the innermost chunk stands that holds the element `start` of a chunk; see
  // Array::find_block().
  std::optional<StoredBlock> find_block(ChunkPart chunk, std::vector<std::uint64_t> start) const;

  // How many parts are best handed over at once: enough to keep all threads busy, few enough to be
  // nothing beside the chunks they stand for.
  static constexpr std::size_t kBatchSize = 4096;

 private:
  // Parts of one value that are fetched in one go.
  using Group = std::span<const ChunkPart>;

  // A shard whose index is known; there is none when the shard is absent.
  struct OpenShard {
    ChunkPart part;
    Framing framing;
    std::shared_ptr<const ShardIndex> index;
  };

  // Puts the parts in another order.
  void read_parts(std::span<ChunkPart> parts);
  void read_shards(std::span<const ChunkPart> shards);
  // A checksum around the shard is checked if all of the shard is wanted: a part of the bytes
  // cannot tell whether it is right.
  OpenShard open_shard(const ChunkPart& shard, bool wants_all) const;
  bool is_prefetched(const ChunkPart& shard) const;
  bool fetch_checked(ChunkPart& shard) const;
  bool decompress_shard(ChunkPart& shard) const;
  std::shared_ptr<const ShardIndex> read_index(OpenShard& shard) const;
  void expand(const OpenShard& shard, std::vector<ChunkPart>& parts);
  std::optional<Buffer> fetch(const ChunkPart& part) const;
  std::optional<std::vector<Buffer>> fetch_ranges(const ChunkPart& part,
                                                  std::span<const ByteRange> ranges) const;

  void read_chunks(std::span<ChunkPart> chunks);
  std::vector<Group> make_groups(std::span<ChunkPart> chunks) const;
  void read_group(Group group);
  std::optional<std::vector<ByteRange>> ranges_of_elements(const ChunkPart& part) const;
  bool read_elements(const ChunkPart& part);
  void parallel_for(std::size_t count, const std::function<void(std::size_t)>& body);

  Store& store_;
  Context& context_;
  const ReadOptions& options_;
  std::size_t workers_;  // more than decode, when the store has many requests under way
  ChunkDecoder decoder_;
  bool uses_cached_indexes_ = true;
};

}  // namespace zarrcore
