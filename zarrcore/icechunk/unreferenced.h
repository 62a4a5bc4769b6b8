// The files of a repository that no snapshot reaches: what failed commits and killed programs
// leave.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "zarrcore/base/api.h"
#include "zarrcore/store/store.h"

namespace zarrcore::icechunk {

// The keys of snapshots, manifests, chunks and logs of transactions that neither the history of a
// branch or a tag reaches nor, in format 2, any snapshot that the repository lists. A commit that
// ends meanwhile keeps its files, but those of a running transaction are among them: what is young
// must stay. Throws Error if anything that is reached cannot be read.
ZARRCORE_API std::vector<std::string> unreferenced_files(const std::shared_ptr<Store>& files);

}  // namespace zarrcore::icechunk
