// The one part of a repository's config.yaml that a reader needs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace zarrcore::icechunk {

// The url_prefix of the virtual chunk container called `name`; nullopt if there is none. Reads the
// YAML that Icechunk writes: nested maps, one member a line, with plain or quoted scalars.
std::optional<std::string> find_yaml_container(std::string_view text, std::string_view name);

}  // namespace zarrcore::icechunk
