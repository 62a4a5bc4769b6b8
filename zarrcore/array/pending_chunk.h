// A chunk that is being written. What is written of it waits here, in memory, until all of it can
// be encoded and put. A chunk consists of units: the inner chunks, if it is a shard whose inner
// chunks can be put together without decoding them, else the chunk itself.
//
// Others may put the chunk meanwhile: other writers, of this process or of another one. What has
// been written here is then laid over what they have put, and nothing of theirs is lost where the
// store can tell that a value has changed.
//
// May be used by several threads at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "zarrcore/array/array.h"
#include "zarrcore/array/chunk_walk.h"
#include "zarrcore/array/shard_writer.h"
#include "zarrcore/array/written_elements.h"

namespace zarrcore {

class PendingChunk {
 public:
  using Index = std::vector<std::uint64_t>;

  // `index` is the chunk's place in the grid of the array. What waits is added to `total`, in
  // bytes; it and the array must live as long.
  PendingChunk(const Array& array, Index index, std::atomic<std::uint64_t>& total);
  ~PendingChunk();
  PendingChunk(const PendingChunk&) = delete;
  PendingChunk& operator=(const PendingChunk&) = delete;

  const Index& index() const { return index_; }
  const std::string& key() const { return *key_; }

  // What a slice of the chunk takes of each unit: its position, its axes in stored order.
  std::vector<InnerSlice> cut(const ChunkSlice& slice) const;

  // Writes a part of a unit. False when this object is no longer the one for its chunk. Throws
  // Error, which names the chunk; then the part may be partly written, but nothing is lost that has
  // been written before.
  bool write(const InnerSlice& part, const std::byte* source, const ElementConverter* converter);

  std::uint64_t waiting_bytes() const { return bytes_; }

  // Whether every unit that the array has is written as a whole.
  bool is_complete() const { return finished_ == units_inside_; }

  // Puts the chunk, if anything waits. When it throws Error, everything still waits.
  void put();

  // Encodes a unit if it waits to be, which put() would do: several threads share the work.
  void encode(std::size_t unit);
  std::vector<std::size_t> waiting_units() const;

  // If nothing waits, and nobody holds or uses the chunk: lets nothing more be written to it.
  bool retire();

  // While it is held, nothing that waits goes, and the stored chunk does not change through this
  // object. Null when this object is no longer the one for its chunk.
  std::optional<std::shared_lock<std::shared_mutex>> hold();
  // For who holds the chunk: what a slice of it takes of units that wait. The parts that have to be
  // read from the store, to the caller's memory `data`, are added to `stored`.
  std::vector<InnerSlice> split(const ChunkSlice& slice, std::byte* data,
                                std::vector<ChunkPart>& stored) const;
  // Copies a part of a unit that waits.
  void read(const InnerSlice& part, std::byte* destination,
            const ElementConverter* converter) const;

 private:
  enum class State : std::uint8_t {
    untouched,
    decoded,
    encoded,
    absent,  // nothing but the fill value
  };
  struct Unit {
    mutable std::mutex mutex;
    State state = State::untouched;
    DecodedChunk decoded;
    Buffer encoded;
    std::uint64_t changed = 0;  // elements, since it was encoded last
    Shape inside = {};          // elements that are in the array, in stored order
    // Of a unit that has been written in part: which elements, and what the store held of it or of
    // its shard when the others were read.
    bool is_whole = false;
    WrittenElements written = {};
    ValueVersion base = {};
    std::shared_ptr<const StoredShard> base_shard = {};

    bool is_finished() const { return state == State::encoded || state == State::absent; }
    std::uint64_t bytes() const {
      return encoded.capacity() + decoded.byte_count() + written.byte_count();
    }
  };
  class Count;

  Unit& unit_at(std::size_t position);
  Unit* find_unit(std::size_t position) const;  // null if nothing of it has been written
  void change(const InnerSlice& part, const std::byte* source, const ElementConverter* converter,
              Unit& unit);
  void note_whole(Unit& unit) const;
  void encode(Unit& unit) const;
  bool repeat_edges(Unit& unit) const;
  DecodedChunk make_filled() const;
  DecodedChunk load(std::size_t position, Unit& unit);
  DecodedChunk decode(const std::optional<Buffer>& stored) const;
  std::optional<Buffer> fetch(std::size_t position, Unit& unit);
  // Lays what has been written of a unit over what is stored of it now.
  void rebase(Unit& unit, const std::optional<Buffer>& stored) const;
  void copy(const InnerSlice& part, const std::byte* source, const ElementConverter* converter,
            DecodedChunk& chunk) const;
  void put_waiting();
  // False when somebody else has put the chunk meanwhile. If `is_locked`, nobody can.
  bool try_to_put_chunk(bool is_locked);
  bool try_to_put_shard(bool is_locked);
  void add_to_totals(std::uint64_t bytes);  // modulo 2^64
  bool is_waiting(std::size_t position) const;

  const Array& array_;
  Index index_;
  std::shared_ptr<const std::string> key_;
  const CodecChain& chain_;
  const ShardingCodec* sharding_;  // null when the chunk is one unit
  const CodecChain& unit_chain_;
  std::uint64_t units_inside_ = 1;  // units that reach into the array

  mutable std::shared_mutex mutex_;  // shared by who uses the chunk, not by who puts it
  bool is_retired_ = false;
  mutable std::mutex units_mutex_;  // of those who share the chunk
  std::map<std::size_t, std::unique_ptr<Unit>> units_;
  std::shared_ptr<const StoredShard> stored_;  // as far as it is known; not open
  std::atomic<std::uint64_t>& total_;
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<std::uint64_t> finished_{0};
};

}  // namespace zarrcore
