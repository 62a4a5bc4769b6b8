// The log of a commit: a file that says what the snapshot has changed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "zarrcore/icechunk/change_set.h"

namespace zarrcore::icechunk {

// Chunks of arrays that came from others are in `copied`, by their numbers.
Buffer make_log(const ObjectId& id, int format, const ChangeSet& changes,
                const std::map<NodeId, std::vector<std::uint64_t>>& copied);
// The log of a commit that changed nothing.
Buffer make_empty_log(const ObjectId& id, int format);

// The chunks that a commit has changed, in order, by the ids of their arrays; without the chunks of
// an array that is not wanted.
using ChangedChunks = std::map<NodeId, std::vector<std::vector<std::uint64_t>>>;
void add_changed_chunks(ByteSpan log, const std::function<bool(const NodeId& array)>& is_wanted,
                        ChangedChunks& chunks);

}  // namespace zarrcore::icechunk
