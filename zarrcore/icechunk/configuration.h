// What the configuration of a repository says about writing: `config` of the file repo in format 2,
// config.yaml in format 1.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "zarrcore/store/store.h"

namespace zarrcore::icechunk {

struct Configuration {
  // Chunks of at most as many bytes are stored in manifests.
  std::uint64_t inline_threshold = 512;

  // How many chunks along each dimension share a manifest: UINT64_MAX if all do.
  std::vector<std::uint64_t> split_sizes(
      std::string_view path, const std::vector<std::optional<std::string>>& dimension_names,
      std::size_t rank) const;
};

// The defaults if there is none, or if it does not say.
Configuration read_configuration(Store& files, int format);

}  // namespace zarrcore::icechunk
