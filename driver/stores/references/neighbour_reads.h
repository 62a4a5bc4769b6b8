// Values that are neighbours in a file on the network, read together: the first one that is taken
// reads all of them by one request.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "driver/stores/references/reference.h"
#include "driver/stores/references/target_files.h"

namespace gdal_zarr {

// Safe to use from several threads at once.
class NeighbourReads {
 public:
  // `targets` must outlive the object.
  explicit NeighbourReads(TargetFiles& targets) : targets_(targets) {}

  // Each of these will be taken once, while the result lives. Targets are paths; parts of local
  // files, large ones and values are passed over.
  std::shared_ptr<void> expect(std::vector<Reference> parts);

  // Nullopt if the value is to be read by itself: it is not expected, or cannot be read with
  // others. Throws zarrcore::Error when it is larger than `max_size`.
  std::optional<zarrcore::Buffer> take(const Reference& part, std::uint64_t max_size);

 private:
  struct Run;
  struct Expected;
  using Place = std::tuple<std::string, std::uint64_t, std::uint64_t>;  // file, offset, length
  static Place place_of(const Reference& part) {
    return {part.target, part.offset, part.length.value_or(0)};
  }

  TargetFiles& targets_;
  std::mutex mutex_;
  std::multimap<Place, std::shared_ptr<Run>> runs_;
};

}  // namespace gdal_zarr
