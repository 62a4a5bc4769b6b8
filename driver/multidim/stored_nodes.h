// The contents of the nodes of an opened store: their metadata, their attributes, the coordinates
// that some hold for others, and the pyramids that `multiscales` attributes of groups describe. The
// part of a session that knows no GDAL object of a node.
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
#include <string_view>
#include <utility>
#include <vector>

#include "driver/conventions/multiscales.h"
#include "zarrcore/hierarchy/hierarchy.h"
#include "zarrcore/metadata/array_metadata.h"

namespace gdal_zarr {

class StoredNodes;

// "a/b", "a" and "" of "a/b": a node, and all groups above it.
std::vector<std::string> paths_upward(std::string_view node_path);

// An array as a level of a pyramid.
struct PyramidLevel {
  std::string group;  // node path of the group that describes the pyramid
  std::shared_ptr<const Multiscales> multiscales;
  std::size_t level = 0;  // index in multiscales->levels
  std::string suffix;     // path of the array below the level's asset; empty when it is the asset

  const zarrcore::Json& entry() const { return multiscales->levels[level].entry; }
};

// Suffixes of the names of the two, which are not listed beside the array that has the name.
inline constexpr std::string_view kUnfinishedCopy = ".gdal-zarr-new";
inline constexpr std::string_view kReplacedArray = ".gdal-zarr-old";

// The pyramids of a store, and the arrays that are their levels.
class Pyramids {
 public:
  explicit Pyramids(const StoredNodes& nodes) : nodes_(nodes) {}

  // The pyramid that the array belongs to, by the groups of its store.
  std::optional<PyramidLevel> find(const std::string& array_path) const;
  // The node paths of the arrays at coarser levels, the finer first. Those that do not exist are
  // left out, and after a warning those that are not of the same type and as many dimensions.
  std::vector<std::string> overview_paths(const std::string& array_path) const;
  // The node path of the array at the finest level that has it; empty if `array_path` is already at
  // that level, or if no pyramid has it.
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
  // Where the array of a level may be, the most likely place first.
  std::vector<std::string> places_at_level(const PyramidLevel& pyramid,
                                           const std::string& array_path, std::size_t level) const;
  void prefetch_levels(const PyramidLevel& pyramid, const std::string& array_path) const;
  // The node path of the array at another level; empty when it does not exist.
  std::string path_at_level(const PyramidLevel& pyramid, const std::string& array_path,
                            std::size_t level) const;

  void warn_of_misfit(const std::string& level_path, const std::string& array_path) const;

  const StoredNodes& nodes_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, List> by_group_;
  mutable std::set<std::string> misfits_;  // node paths that have been warned of
  mutable std::atomic<std::uint64_t> generation_ = 0;
};

class StoredNodes {
 public:
  // `path` is the path of the store.
  explicit StoredNodes(std::string path) : path_(std::move(path)) {}
  StoredNodes(const StoredNodes&) = delete;
  StoredNodes& operator=(const StoredNodes&) = delete;

  const std::string& path() const { return path_; }
  const zarrcore::Hierarchy& hierarchy() const { return *hierarchy_; }
  // Returns true if requests of the store wait for answers, and several can wait at the same time.
  bool is_slow() const { return hierarchy_->store()->traits().parallel_requests > 1; }

  // An array at the root of the store appears in a group that does not exist, under the name of the
  // file without its extension.
  bool root_is_array() const { return !root_array_name_.empty(); }
  const std::string& root_array_name() const { return root_array_name_; }
  // Node paths (hierarchy.h) and the full names of GDAL objects: "a/b" and "/a/b".
  std::string full_name(const std::string& node_path) const;
  std::string node_path(const std::string& full_name) const;

  // The attributes of a node; an empty object when no node, or only one of another kind than
  // `wanted`, exists there.
  std::shared_ptr<const zarrcore::Json> attributes(
      const std::string& node_path, std::optional<zarrcore::NodeKind> wanted = {}) const;
  // The metadata of a group, or null when none exists there.
  std::shared_ptr<const zarrcore::GroupMetadata> group_metadata(const std::string& node_path) const;
  // The metadata of an array, or null when it does not exist or cannot be read.
  std::shared_ptr<const zarrcore::ArrayMetadata> array_metadata(const std::string& node_path) const;
  // The same of an array that may hold coordinates of others. When it cannot be read, the others
  // stay readable without it: a warning, once for each array, states what they lack.
  std::shared_ptr<const zarrcore::ArrayMetadata> coordinate_metadata(
      const std::string& node_path) const;
  // Returns true for an array that `rechunk` makes, or has replaced, while the other one exists.
  bool is_unfinished_copy(const std::string& node_path) const;
  // Returns true if the array has one dimension, and the dimension has the array's name.
  bool is_dimension_variable(const std::string& node_path) const;
  // Pyramids, also those that a group above the store describes.
  const Pyramids& pyramids() const { return pyramids_; }
  virtual std::optional<PyramidLevel> pyramid_level(const std::string& array_path) const = 0;
  // The metadata of a variable of this name and length in the nearest group above the store; null
  // if there is none. `group` is the group that NCZarr states, as a path from the root of its
  // store, or empty.
  virtual std::shared_ptr<const zarrcore::ArrayMetadata> metadata_above(
      const std::string& group, const std::string& name, std::uint64_t size) const = 0;
  void warn_unreadable(const std::string& node_path, const char* problem) const;
  bool is_unreadable(const std::string& node_path) const;

 protected:
  virtual ~StoredNodes() = default;

  std::string path_;
  std::unique_ptr<zarrcore::Hierarchy> hierarchy_;
  std::string root_array_name_;

 private:
  mutable std::mutex unreadable_mutex_;
  mutable std::set<std::string> unreadable_;  // node paths that have been warned of
  Pyramids pyramids_{*this};
};

}  // namespace gdal_zarr
