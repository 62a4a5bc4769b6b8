// A pending chunk: a chunk that has been written to but not yet put. Written elements are collected
// in memory until the chunk can be encoded and put. It consists of inner chunks: the inner chunks
// of a shard, if the shard can be assembled without decoding them; otherwise the chunk itself is
// its only inner chunk.
//
// Other writers, of this process or of another one, may put the same chunk meanwhile. The elements
// written here are then applied to the newly stored chunk. No element of other writers is lost if
// the store can tell that a value has changed.
//
// May be used by several threads at once.
#pragma once

#include <atomic>
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

#include "zarrcore/array/array.h"
#include "zarrcore/array/selection.h"
#include "zarrcore/array/stored_shard.h"
#include "zarrcore/base/buffer.h"
#include "zarrcore/base/process.h"
#include "zarrcore/base/strided.h"
#include "zarrcore/codec/codec_chain.h"

namespace zarrcore {

// Which elements of an inner chunk have been written: a bit for each.
class WrittenElements {
 public:
  // Adds a slice of a dense chunk of `shape`, the same each time.
  void add(std::span<const AxisSlice> axes, std::span<const std::uint64_t> shape);

  std::uint64_t count() const { return count_; }
  std::uint64_t byte_count() const { return words_.capacity() * sizeof(Word); }

  // Calls `body` with the start and the length of each run of elements that have been written, in C
  // order.
  void for_each_run(const std::function<void(std::uint64_t, std::uint64_t)>& body) const;

 private:
  using Word = std::uint64_t;
  static constexpr std::uint64_t kWordBits = 64;

  void add_run(std::uint64_t start, std::uint64_t length);
  // The first element from `start` on that has been written, or has not.
  std::uint64_t find(std::uint64_t start, bool is_written) const;

  std::vector<Word> words_;
  std::uint64_t size_ = 0;  // elements of the chunk
  std::uint64_t count_ = 0;
};

// One inner chunk of a pending chunk: the elements written to it, in memory, decoded or already
// encoded again. All members are guarded by `mutex`, which callers lock. Throws Error; elements
// written before are then not lost.
class PendingInnerChunk {
 public:
  // `chain` is the codec chain of the inner chunk. `is_in_shard`: it stays in memory, encoded,
  // until the rest of its shard is encoded. `stores_empty`: it is also encoded if it contains only
  // the fill value. The array and the chain must outlive this object.
  PendingInnerChunk(const ArrayState& array, const CodecChain& chain, bool is_in_shard,
                    bool stores_empty)
      : array_(array), chain_(chain), is_in_shard_(is_in_shard), stores_empty_(stores_empty) {}

  bool is_pending() const { return state_ != State::untouched; }
  bool is_decoded() const { return state_ == State::decoded; }
  bool is_encoded() const { return state_ == State::encoded; }
  // Returns true if it can be put without more work.
  bool is_finished() const { return state_ == State::encoded || state_ == State::filled; }
  // Returns true if every element has been written, so that no element of the stored chunk remains.
  bool is_whole() const { return is_whole_; }
  // Only if is_encoded().
  ByteSpan encoded() const { return encoded_.span(); }
  std::uint64_t byte_count() const {
    return encoded_.capacity() + decoded_.byte_count() + written_.byte_count();
  }

  // Returns true if load() has to be called before a slice is written.
  bool needs_stored(const StoredSlice& slice) const;
  // Takes the elements of the stored chunk, which is nullopt when it is missing.
  void load(const std::optional<Buffer>& stored);
  // Writes a slice; `source` points to its first element. True when it is time to encode the chunk:
  // as many elements as it has have been written since it was last encoded.
  bool write(const StoredSlice& slice, const std::byte* source, const ElementConverter* converter);
  // Copies a slice to `destination`. With is_pending().
  void read(const StoredSlice& slice, std::byte* destination,
            const ElementConverter* converter) const;

  void encode();
  // Applies the written elements to the chunk that is stored now, and encodes the result.
  void rebase(const std::optional<Buffer>& stored);

  mutable std::mutex mutex;
  // Unless is_whole(): the version of the value, or of the shard, that load() was called with.
  ValueVersion base = {};
  std::shared_ptr<const StoredShard> base_shard = {};
  // True if a task is queued that encodes it.
  bool is_queued = false;

 private:
  enum class State : std::uint8_t {
    untouched,
    decoded,
    encoded,
    filled,  // every element has the fill value
  };

  const Shape& shape() const { return chain_.stored_spec().shape; }
  const DataType& type() const { return array_.metadata.data_type; }
  DecodedChunk make_filled() const;
  DecodedChunk decode(const std::optional<Buffer>& stored) const;
  // The elements as they are, unless they are decoded or untouched.
  DecodedChunk decode_own() const;
  void copy(const StoredSlice& slice, const std::byte* source, const ElementConverter* converter,
            DecodedChunk& chunk) const;
  void note_whole();
  bool repeat_edges();

  const ArrayState& array_;
  const CodecChain& chain_;
  bool is_in_shard_;
  bool stores_empty_;
  State state_ = State::untouched;
  DecodedChunk decoded_;
  Buffer encoded_;
  std::uint64_t changed_ = 0;  // elements written since it was last encoded
  Shape inside_ = {};          // elements that are inside the array, in stored order
  bool is_whole_ = false;
  WrittenElements written_ = {};  // unless is_whole_
};

class PendingChunk {
 public:
  using Index = std::vector<std::uint64_t>;

  // `index` is the position of the chunk in the grid of the array. The pending bytes are added to
  // `total`; it and the array must outlive this object.
  PendingChunk(const ArrayState& array, Index index, std::atomic<std::uint64_t>& total,
               bool stores_empty);
  ~PendingChunk();
  PendingChunk(const PendingChunk&) = delete;
  PendingChunk& operator=(const PendingChunk&) = delete;

  const Index& index() const { return index_; }
  const std::string& key() const { return *key_; }

  // Cuts a slice of the chunk into slices of its inner chunks.
  std::vector<StoredSlice> cut(const ChunkSlice& slice) const;

  // The steps that write() itself takes. Each includes the previous ones.
  enum class WriteSteps : std::uint8_t {
    copying,   // to an inner chunk that is decoded in memory
    decoding,  // decoding the stored chunk, or allocating memory
    encoding,  // an inner chunk, once all of it has been written
  };
  enum class WriteResult : std::uint8_t {
    needs_decoding,  // not written, with WriteSteps::copying
    done,
    is_ready,  // the caller has to encode() the inner chunk; not with WriteSteps::encoding
  };
  // A call of ArrayWriter::write() begins, which writes several slices. Until it ends, the chunk is
  // not complete: it would be put with a part of them, and once more with the rest. Returns false
  // if this object is retired: the caller needs another one.
  bool begin_write();
  void end_write() { --writes_; }
  bool is_being_written() const { return writes_ > 0; }

  // Writes a slice of an inner chunk. Throws Error, which names the chunk; the slice may then be
  // partly written, but elements written before are not lost.
  WriteResult write(const StoredSlice& slice, const std::byte* source,
                    const ElementConverter* converter, WriteSteps steps);

  std::uint64_t pending_bytes() const { return bytes_; }
  // The decoded size of an inner chunk.
  std::uint64_t decoded_size() const { return inner_chain_.decoded_size(); }
  // Returns true if inner chunks wait until the rest of their shard has been written.
  bool is_shard() const { return sharding_ != nullptr; }

  // Returns true if every inner chunk inside the array has been written and encoded, and no write
  // is in progress.
  bool is_complete() const { return writes_ == 0 && finished_ == inner_chunks_inside_; }
  // Returns true if it is complete and the caller is the first to ask since the last put().
  bool claim_put() { return is_complete() && !is_claimed_.exchange(true); }

  enum class PutMode : std::uint8_t {
    pending,    // what is pending
    claimed,    // after claim_put(); nothing if another write has begun since, which then puts it
    exclusive,  // no other program writes to the chunk, from before the first write() on
  };
  // Puts the chunk, if anything is pending. When it throws Error, everything is still pending.
  void put(PutMode mode = PutMode::pending);

  // Encodes an inner chunk if it is decoded, as put() would: this shares the work among threads.
  void encode(std::size_t position);
  // The positions of the inner chunks that have been written to.
  std::vector<std::size_t> pending_positions() const;

  // Retires this object if nothing is pending and no thread holds or uses the chunk: nothing more
  // is written to it.
  bool retire();

  // While the lock is held, pending elements stay pending, and the stored chunk does not change
  // through this object. Nullopt when this object is retired.
  std::optional<std::shared_lock<SharedMutex>> hold();
  // With hold(): returns the stored slices of `slice` that are pending. Adds the parts that have to
  // be read from the store, to the caller's memory `data`, to `stored`.
  std::vector<StoredSlice> split(const ChunkSlice& slice, std::byte* data,
                                 std::vector<StoredPart>& stored) const;
  // Copies a pending slice. Only while hold() is in effect.
  void read(const StoredSlice& slice, std::byte* destination,
            const ElementConverter* converter) const;

 private:
  class Count;

  PendingInnerChunk& inner_at(std::size_t position);
  PendingInnerChunk* find_inner(std::size_t position) const;  // null if it has not been written to
  // The stored bytes of an inner chunk; notes the version that they are from.
  std::optional<Buffer> fetch(std::size_t position, PendingInnerChunk& inner);
  bool depends_on_stored() const;
  void put_pending(bool depends_on_read);
  // False when another writer has put the chunk meanwhile. Options without an expected version:
  // this thread has the lock of the chunk's folder. Else it becomes the version that was read.
  bool try_to_put_chunk(PutOptions options, int tries);
  bool try_to_put_shard(PutOptions options);
  void add_to_totals(std::uint64_t bytes);  // modulo 2^64
  bool is_pending(std::size_t position) const;

  const ArrayState& array_;
  Index index_;
  std::shared_ptr<const std::string> key_;
  SharedChain chain_owner_;
  const CodecChain& chain_;
  const ShardingCodec* sharding_;  // null when the chunk is its own only inner chunk
  const CodecChain& inner_chain_;
  std::uint64_t inner_chunks_inside_ = 1;  // inner chunks that are at least partly inside the array

  mutable SharedMutex mutex_;  // shared by users of the chunk, exclusive to put it
  bool is_retired_ = false;
  mutable std::mutex inner_mutex_;  // guards the next two among the users of the chunk
  std::map<std::size_t, std::unique_ptr<PendingInnerChunk>> inner_chunks_;
  std::shared_ptr<const StoredShard> stored_;  // as far as it is known; not open
  bool stores_empty_;
  std::atomic<std::uint64_t>& total_;
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<std::uint64_t> finished_{0};
  std::atomic<bool> is_claimed_{false};
  std::atomic<std::size_t> writes_{0};  // that have begun; more begin with a shared lock of mutex_
};

}  // namespace zarrcore
