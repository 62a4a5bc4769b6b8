// Examines the stored chunks of arrays, many at a time, of all arrays together: the indexes of
// shards, and decoding. How many wait does not depend on how many there are.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "zarrcore/array/array.h"
#include "zarrcore/check/store_check.h"

namespace zarrcore {

class ChunkCheck {
 public:
  // The store must be that of all arrays. The options must outlive it.
  ChunkCheck(Store& store, std::shared_ptr<Context> context, const ExamineOptions& options);

  // Returns the number of the array: how many have been added before.
  std::size_t add_array(std::shared_ptr<const Array> array);
  const Array& array(std::size_t number) const { return *arrays_[number].array; }
  // Returns true if the index of each chunk, which is a shard, is examined: with its size.
  bool reads_indexes(std::size_t number) const {
    return arrays_[number].result.inner_chunks.has_value();
  }

  struct StoredChunk {
    std::size_t array;                    // its number
    std::vector<std::uint64_t> position;  // in the grid
    std::optional<std::uint64_t> size;    // in bytes, as it is stored
  };
  // Examined now or later.
  void add(StoredChunk chunk);
  // Examines what has been added.
  void finish();

  struct Result {
    std::vector<Finding> findings;
    std::optional<std::uint64_t> inner_chunks = {};  // of addressable shards
  };
  const Result& result(std::size_t number) const { return arrays_[number].result; }

 private:
  struct ExaminedChunks {
    std::shared_ptr<const Array> array;
    Result result;
  };

  Result examine(const StoredChunk& chunk) const;
  std::size_t examine_index(const StoredChunk& shard) const;
  void decode(const StoredChunk& chunk) const;

  Store& store_;
  std::shared_ptr<Context> context_;
  const ExamineOptions& options_;
  std::vector<ExaminedChunks> arrays_;
  std::vector<StoredChunk> chunks_;  // to be examined
  std::uint64_t bytes_ = 0;          // of these, decoded
};

}  // namespace zarrcore
