// The pyramids that `multiscales` attributes of groups describe, and which arrays are their levels.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "driver/conventions/multiscales.h"

namespace gdal_zarr {

class StoredNodes;

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
  explicit Pyramids(const StoredNodes& nodes) : nodes_(nodes) {}

  // The pyramid that the array belongs to.
  std::optional<PyramidLevel> find(const std::string& array_path) const;
  // The node paths of the arrays at coarser levels, the finer first. Those that do not exist are
  // left out, and after a warning those that are not of the same type and as many dimensions.
  std::vector<std::string> overview_paths(const std::string& array_path) const;
  // The node path of the array at the finest level that has it; empty when `array_path` is that
  // one, or when no pyramid has it.
  std::string finest_level_path(const std::string& array_path) const;

  // The pyramids that a group describes. The order of their levels may be uncertain.
  using List = std::vector<std::shared_ptr<const Multiscales>>;
  List of_group(const std::string& group) const;

  // The attributes of a group, or of all, have changed.
  void forget(const std::string& group) const;
  void forget_all() const;
  // Differs after forget_all(): levels may be other arrays than before.
  std::uint64_t generation() const { return generation_; }

 private:
  std::optional<PyramidLevel> find_in(const std::string& group,
                                      const std::shared_ptr<const Multiscales>& pyramid,
                                      const std::string& array_path) const;
  // The pyramid with its levels in the order that the sizes of the arrays at `level`'s suffix
  // imply; null when they imply none.
  std::shared_ptr<const Multiscales> ordered_by_size(const PyramidLevel& level,
                                                     const std::string& array_path) const;
  // The node path of the array at another level; empty when it does not exist.
  std::vector<std::string> places_at_level(const PyramidLevel& pyramid,
                                           const std::string& array_path, std::size_t level) const;
  void prefetch_levels(const PyramidLevel& pyramid, const std::string& array_path) const;
  std::string path_at_level(const PyramidLevel& pyramid, const std::string& array_path,
                            std::size_t level) const;

  // Warns once for each level.
  void warn_of_misfit(const std::string& level_path, const std::string& array_path) const;

  const StoredNodes& nodes_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, List> by_group_;
  mutable std::set<std::string> misfits_;  // node paths that have been warned of
  mutable std::atomic<std::uint64_t> generation_ = 0;
};

}  // namespace gdal_zarr
