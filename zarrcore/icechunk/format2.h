// Repositories of format 2, where one file has all branches, tags and ids of snapshots.
#pragma once

#include <memory>
#include <string_view>

#include "zarrcore/icechunk/repository.h"

namespace zarrcore::icechunk {

inline constexpr std::string_view kRepositoryFile = "repo";

// `file` is the one called kRepositoryFile.
std::shared_ptr<const Repository> open_format2(std::shared_ptr<Store> files, ByteSpan file);

}  // namespace zarrcore::icechunk
