// Changes of an Icechunk repository other than commits: its creation, branches and tags; and its
// history and unreferenced files. Changes take effect at once and completely, or not at all. They
// throw Error if the repository cannot be written to, and if its store cannot replace a file only
// if it has not changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "zarrcore/base/api.h"
#include "zarrcore/icechunk/repository.h"
#include "zarrcore/store/store.h"

namespace zarrcore::icechunk {

// Makes an empty repository of format 1 or 2 with the branch main. Throws Error if `files` has any
// values.
ZARRCORE_API void create_repository(Store& files, int format = 2);

// Makes a branch or a tag. `snapshot` is the id of a snapshot of the repository.
ZARRCORE_API void create_ref(Store& files, VersionName::Kind kind, std::string_view name,
                             std::string_view snapshot);
// Throws Error if create_ref() of a branch would, because of the name. `format` is the
// repository's.
void check_new_branch(Store& files, int format, std::string_view name);
// Makes another snapshot the newest of the branch.
ZARRCORE_API void reset_branch(Store& files, std::string_view name, std::string_view snapshot);
// The branch main cannot be deleted. The name of a deleted tag cannot be used again.
ZARRCORE_API void delete_ref(Store& files, VersionName::Kind kind, std::string_view name);

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

// The files of a repository that no snapshot reaches: what failed commits and killed programs
// leave. The keys of snapshots, manifests, chunks and logs of transactions that neither the history
// of a branch or a tag reaches nor, in format 2, any snapshot that the repository lists. A commit
// that ends meanwhile keeps its files, but the files of a running transaction are among them: what
// is young must stay. Throws Error if anything that is reached cannot be read.
ZARRCORE_API std::vector<std::string> unreferenced_files(const std::shared_ptr<Store>& files);

}  // namespace zarrcore::icechunk
