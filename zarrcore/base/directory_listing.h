// What stands directly below a prefix of a store.
#pragma once

#include <string>
#include <vector>

namespace zarrcore {

struct DirectoryListing {
  std::vector<std::string> keys;      // names of the values directly below the prefix
  std::vector<std::string> prefixes;  // names of the deeper levels
};

}  // namespace zarrcore
