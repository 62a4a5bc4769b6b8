// Repositories of format 1, where each branch and tag is a file.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "zarrcore/icechunk/repository.h"

namespace zarrcore::icechunk {

// The key of the file of a branch.
std::string branch_key(std::string_view name);

// Null if there is no such repository.
std::shared_ptr<const Repository> open_format1(std::shared_ptr<Store> files);

}  // namespace zarrcore::icechunk
