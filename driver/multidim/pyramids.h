// The pyramids that `multiscales` attributes of groups describe, and which arrays are their levels.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "driver/conventions/multiscales.h"

namespace gdal_zarr {

class Session;

// An array as a level of a pyramid.
struct PyramidLevel {
  std::string group;  // node path of the group that describes the pyramid
  std::shared_ptr<const Multiscales> multiscales;
  std::size_t level = 0;  // index in multiscales->levels
  std::string suffix;     // path of the array below the level's asset; empty when it is the asset

  const zarrcore::Json& entry() const { return multiscales->levels[level].entry; }
};

class Pyramids {
 public:
  explicit Pyramids(const Session& session) : session_(session) {}

  // The pyramid that the array belongs to.
  std::optional<PyramidLevel> find(const std::string& array_path) const;
  // The node paths of those arrays at coarser levels that exist.
  std::vector<std::string> overview_paths(const std::string& array_path) const;
  // The node path of the array at the finest level; empty when `array_path` is that one, when no
  // pyramid has it, or when the finest level has no such array.
  std::string finest_level_path(const std::string& array_path) const;

  // The attributes of a group, or of all, have changed.
  void forget(const std::string& group) const;
  void forget_all() const;

 private:
  // The pyramid that a group describes, or null.
  std::shared_ptr<const Multiscales> of_group(const std::string& group) const;
  // The node path of the array at another level; empty when it does not exist.
  std::string path_at_level(const PyramidLevel& pyramid, const std::string& array_path,
                            std::size_t level) const;

  const Session& session_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::shared_ptr<const Multiscales>> by_group_;
};

}  // namespace gdal_zarr
