// Changes of two writers that started from the same snapshot, made one. Nodes are known by their
// ids; chunks by their array's id and their index.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "zarrcore/icechunk/change_set.h"
#include "zarrcore/icechunk/transaction_log.h"

namespace zarrcore::icechunk {

struct MergeOptions {
  bool our_chunks_win = false;     // where both have changed a chunk
  bool our_deletions_win = false;  // of what others have changed
  // Nodes of `ours` as they were when that started, if it did not start from its base alone.
  GivenNodes given = {};
  // Returns true if the references at two places of the log are to the same bytes; without it, none
  // are.
  std::function<bool(std::uint64_t ours, std::uint64_t theirs)> has_same_bytes = {};
};

// Applies the changes of `ours` to `theirs`, whose base is the same snapshot or a later one.
// `their_chunks` are those that have changed in `theirs` since the base of `ours`. Returns what
// contradicts, one sentence each; then `theirs` is in no useful state.
std::vector<std::string> merge_changes(const ChangeSet& ours, ChangeSet& theirs,
                                       const ChangedChunks& their_chunks,
                                       const MergeOptions& options);

}  // namespace zarrcore::icechunk
