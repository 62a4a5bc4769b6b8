// One inner chunk of a pending chunk: the elements written to it, in memory, decoded or already
// encoded again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "zarrcore/array/array_state.h"
#include "zarrcore/array/chunk_walk.h"
#include "zarrcore/array/stored_shard.h"
#include "zarrcore/base/buffer.h"
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

// All members are guarded by `mutex`, which callers lock. Throws Error; elements written before are
// then not lost.
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

}  // namespace zarrcore
