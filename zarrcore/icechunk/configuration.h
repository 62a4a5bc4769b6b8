// The configuration of a repository, as far as it is used: `config` of the file repo in format 2, a
// FlexBuffer; config.yaml in format 1.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "zarrcore/base/json.h"
#include "zarrcore/store/store.h"

namespace zarrcore::icechunk {

// The YAML that Icechunk writes, as JSON: maps and lists in blocks, with plain or quoted scalars; a
// value with a tag is an object with the tag as its only member. Throws Error for other YAML.
Json parse_yaml(std::string_view text);

class Configuration {
 public:
  // The defaults.
  Configuration() = default;
  // What the document does not say has its default. Throws Error if it cannot be understood.
  explicit Configuration(const Json& document);

  // Chunks of at most as many bytes are stored in manifests.
  std::uint64_t inline_threshold() const { return inline_threshold_; }

  // How many chunks along each dimension share a manifest: UINT64_MAX if all do.
  std::vector<std::uint64_t> split_sizes(
      std::string_view path, const std::vector<std::optional<std::string>>& dimension_names,
      std::size_t rank) const;

 private:
  // The sizes for arrays that a condition is true for.
  struct Split {
    Json condition;
    Json sizes;
  };

  std::uint64_t inline_threshold_ = 512;
  std::vector<Split> splits_;
};

// What the URLs begin with that are in a virtual chunk container.
std::string url_prefix(const std::string& key, const Json& container);

// That of the virtual chunk container called `name`; nullopt if there is none.
std::optional<std::string> container_url(const Json& configuration, std::string_view name);

// Virtual chunk containers: the places that virtual chunks may be in, by the prefixes of their
// URLs. Icechunk reads no virtual chunk whose URL has none of these prefixes; this library does.

// The prefix of the container that a file gets if no other contains it: the folder of a local file,
// else the bucket or the server, with a slash at the end. Empty for URLs without a container of
// their own, such as vcc://NAME/file.
std::string container_prefix(std::string_view url);

// Adds a container for each prefix that no existing one contains to the configuration of the
// repository. The rest of the configuration stays as it is. Throws Error if it cannot.
void add_containers(Store& files, int format, const std::set<std::string>& prefixes);

}  // namespace zarrcore::icechunk
