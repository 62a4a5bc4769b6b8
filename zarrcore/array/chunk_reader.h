// Reading many chunks at once: the second half of Array::read. The first half cuts a selection
// along the chunk grid; this one takes the parts, resolves shards into inner chunks, fetches bytes
// and decodes them to their place, in parallel.
//
// Everything here is in stored order (codec_chain.h): the dimensions of a part are already permuted
// by the transposes of its chain.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "zarrcore/array/array.h"
#include "zarrcore/array/chunk_walk.h"

namespace zarrcore {

// What is wanted of one chunk, inner chunk or shard, and where it goes.
struct ChunkPart {
  const CodecChain* chain = nullptr;
  // The store's key; of a part inside a shard that had to be decompressed, a name for that shard.
  std::shared_ptr<const std::string> key;
  // Where the encoded chunk stands in the value of the key, or, inside a shard that had to be
  // decompressed as a whole, in those bytes.
  std::shared_ptr<const Buffer> bytes;
  std::uint64_t offset = 0;
  std::uint64_t length = kWholeValue;
  std::vector<AxisSlice> axes;
  std::byte* destination = nullptr;  // null: the chunk goes to the cache alone

  // The length of a chunk that is all of its value.
  static constexpr std::uint64_t kWholeValue = UINT64_MAX;
  bool is_whole_value() const { return length == kWholeValue; }
};

// Memory for decoding, for as many threads as may decode at once: others wait until one is done.
class ScratchPool {
 public:
  explicit ScratchPool(std::size_t threads);

  // Calls `body` with memory that nobody else has meanwhile.
  void with_scratch(const std::function<void(DecodedChunk&)>& body);

 private:
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<DecodedChunk> idle_;
};

class ChunkReader {
 public:
  ChunkReader(Store& store, Context& context, std::uint64_t array_id,
              std::span<const std::byte> fill_value, std::uint64_t item_size,
              const ElementConverter* converter, const ReadOptions& options);

  // Throws Error, which names the chunk's key.
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

  void read_shards(std::span<ChunkPart> shards);
  OpenShard open_shard(const ChunkPart& shard) const;
  std::shared_ptr<const Buffer> decompress_shard(const ChunkPart& shard) const;
  std::shared_ptr<const ShardIndex> read_index(const OpenShard& shard) const;
  void expand(const OpenShard& shard, std::vector<ChunkPart>& parts);
  std::optional<Buffer> fetch(const ChunkPart& part) const;

  void read_chunks(std::span<ChunkPart> chunks);
  std::vector<Group> make_groups(std::span<ChunkPart> chunks) const;
  void read_group(Group group);
  bool copy_from_cache(const ChunkPart& part) const;
  std::optional<std::vector<ByteRange>> ranges_of_elements(const ChunkPart& part) const;
  bool read_elements(const ChunkPart& part);
  void decode(const ChunkPart& part, ByteSpan encoded, DecodedChunk& scratch,
              Buffer* owner = nullptr) const;
  void decode_to_cache(const ChunkPart& part, ByteSpan encoded, Buffer* owner) const;
  static MutableByteSpan scratch_of(const ChunkPart& part, DecodedChunk& scratch);
  void copy(const ChunkPart& part, const std::byte* elements, std::uint64_t first = 0) const;
  void fill(const ChunkPart& part) const;
  void parallel_for(std::size_t count, const std::function<void(std::size_t, std::size_t)>& body);
  CacheKey cache_key(const ChunkPart& part) const;

  Store& store_;
  Context& context_;
  std::uint64_t array_id_;
  std::span<const std::byte> fill_value_;
  std::uint64_t item_size_;
  const ElementConverter* converter_;
  const ReadOptions& options_;
  std::size_t workers_;  // more than decode, when the store has many requests under way
  ScratchPool scratch_;
};

}  // namespace zarrcore
