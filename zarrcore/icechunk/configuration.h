// The configuration of a repository, as far as it is used: `config` of the file repo in format 2, a
// FlexBuffer; config.yaml in format 1.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "zarrcore/base/json.h"

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

}  // namespace zarrcore::icechunk
