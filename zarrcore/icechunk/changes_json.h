// The changes of a transaction as JSON, for other processes:
//
//   nodes      those that are new, moved or have another document: path, id, and what of
//              "document" and "base", the node of the base that it was, there is; "given", the path
//              that the transaction has started with, and the document, if that was another one
//   deleted    ids of nodes
//   lost       nodes that the transaction has started with and has deleted: id, path, document
//   chunks     of each array: "array", its id; "given", references that the transaction has started
//              with; "references", those that it has changed since, each a list: the index, and
//              unless the chunk was erased, one of
//                "inline", bytes in base64
//                "object", id, offset, length
//                "url", location, offset, length, etag, last_modified
#pragma once

#include <cstdint>
#include <map>

#include "zarrcore/base/json.h"
#include "zarrcore/icechunk/change_set.h"
#include "zarrcore/icechunk/reference_log.h"

namespace zarrcore::icechunk {

// What a transaction has got from another one.
struct GivenChanges {
  GivenNodes nodes;
  // References that are still the same, and those that others have replaced.
  std::map<NodeId, ArrayChanges> chunks;
};

Json changes_to_json(ChangeSet& changes, const GivenChanges& given, const ReferenceLog& log);

// Makes the changes in `changes`, which has none yet, of the same base; their references are added
// to the log. Returns what the transaction had got. `version` is that of their documents. Throws
// Error, and the exceptions of Json, when `json` does not fit the base.
GivenChanges read_changes(const Json& json, std::uint64_t version, ChangeSet& changes,
                          ReferenceLog& log);

}  // namespace zarrcore::icechunk
