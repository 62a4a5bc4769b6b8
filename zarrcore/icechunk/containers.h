// Virtual chunk containers: the places that virtual chunks may be in, by the prefixes of their
// URLs. They are listed in the configuration of a repository. Icechunk reads no virtual chunk whose
// URL has none of these prefixes; this library does.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "zarrcore/store/store.h"

namespace zarrcore::icechunk {

// The prefix of the container that a file gets if no other contains it: the folder of a local file,
// else the bucket or the server, with a slash at the end. Empty for URLs without a container of
// their own, such as vcc://NAME/file.
std::string container_prefix(std::string_view url);

// Adds a container for each prefix that no existing one contains to the configuration of the
// repository. The rest of the configuration stays as it is. Throws Error if it cannot.
void add_containers(Store& files, int format, const std::set<std::string>& prefixes);

}  // namespace zarrcore::icechunk
