// Writes the two files of a commit: the snapshot, and the log of what it changed.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "zarrcore/icechunk/change_set.h"
#include "zarrcore/icechunk/repository_info.h"
#include "zarrcore/icechunk/snapshot.h"

namespace zarrcore::icechunk {

// A node of a new snapshot.
struct NewNode {
  std::string_view path;  // without the slash in front
  NodeId id;
  std::string_view document;
  bool is_array;
  std::vector<Snapshot::Dimension> dimensions;
  bool has_dimension_names = false;  // maybe none but null
  std::vector<ManifestPart> manifests;
};

// `nodes` are sorted by their paths. `manifests` are all of them.
Buffer make_snapshot(const ObjectId& id, const SnapshotRecord& record, int format,
                     const std::vector<NewNode>& nodes,
                     const std::map<std::string, ManifestFile>& manifests);

// Chunks of arrays that came from others are in `copied`, by their numbers.
Buffer make_log(const ObjectId& id, int format, const ChangeSet& changes,
                const std::map<NodeId, std::vector<std::uint64_t>>& copied);
// That of a commit that changed nothing.
Buffer make_empty_log(const ObjectId& id, int format);

// The chunks that a commit has changed, in order, by the ids of their arrays; without the chunks of
// an array that is not wanted.
using ChangedChunks = std::map<NodeId, std::vector<std::vector<std::uint64_t>>>;
void add_changed_chunks(ByteSpan log, const std::function<bool(const NodeId& array)>& is_wanted,
                        ChangedChunks& chunks);

}  // namespace zarrcore::icechunk
