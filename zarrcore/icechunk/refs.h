// Changes of an Icechunk repository other than commits: its creation, branches and tags. All take
// effect at once and completely, or not at all. They throw Error if the repository cannot be
// written to, and if its store cannot replace a file only if it has not changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "zarrcore/base/api.h"
#include "zarrcore/store/store.h"

namespace zarrcore::icechunk {

// Makes an empty repository of format 1 or 2 with the branch main. Throws Error if `files` has any
// values.
ZARRCORE_API void create_repository(Store& files, int format = 2);

// `snapshot` is the id of a snapshot of the repository.
ZARRCORE_API void create_branch(Store& files, std::string_view name, std::string_view snapshot);
// Throws Error if create_branch() would, because of the name. `format` is the repository's.
void check_new_branch(Store& files, int format, std::string_view name);
// Makes another snapshot the newest of the branch.
ZARRCORE_API void reset_branch(Store& files, std::string_view name, std::string_view snapshot);
// The branch main cannot be deleted.
ZARRCORE_API void delete_branch(Store& files, std::string_view name);
// The name of a deleted tag cannot be used again.
ZARRCORE_API void create_tag(Store& files, std::string_view name, std::string_view snapshot);
ZARRCORE_API void delete_tag(Store& files, std::string_view name);

struct SnapshotInfo {
  std::string id;
  std::string parent;      // empty if there is none
  std::uint64_t time = 0;  // in microseconds since 1970
  std::string message;
  std::vector<std::pair<std::string, std::string>> properties;  // of texts
};
// A snapshot and those before it, the newest first, at most `most`.
ZARRCORE_API std::vector<SnapshotInfo> ancestry(Store& files, std::string_view snapshot,
                                                std::size_t most = SIZE_MAX);

}  // namespace zarrcore::icechunk
