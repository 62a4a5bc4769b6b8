// Examines the stored chunks of one array, many at a time: the indexes of shards, and decoding.
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
  // The options must outlive it.
  ChunkCheck(std::shared_ptr<const Array> array, const ExamineOptions& options);

  const Array& array() const { return *array_; }

  struct StoredChunk {
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
  const Result& result() const { return result_; }

 private:
  void examine(const StoredChunk& chunk, Result& result) const;
  void examine_index(const StoredChunk& shard, Result& result) const;
  void decode(std::span<const std::uint64_t> position) const;

  std::shared_ptr<const Array> array_;
  const ExamineOptions* options_;
  bool has_indexes_ = false;
  std::vector<StoredChunk> chunks_;  // to be examined
  Result result_;
};

}  // namespace zarrcore
