// Repositories of format 1, where each branch and tag is a file.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "zarrcore/icechunk/repository.h"
#include "zarrcore/icechunk/requested_files.h"

namespace zarrcore::icechunk {

// The key of the file of a branch.
std::string branch_key(std::string_view name);

// The keys of the files that say which snapshot `version` is, and that this is a repository.
std::vector<std::string> ref_keys(const VersionName& version);

// Null if there is no such repository. Takes files that have been requested from there; otherwise
// the arguments are those of Repository::open().
std::shared_ptr<const Repository> open_format1(std::shared_ptr<Store> files,
                                               const RequestedFiles& requested,
                                               const VersionName& expected, const RunTogether& run);

}  // namespace zarrcore::icechunk
