// What the nodes of an opened store say: their metadata, their attributes, and the coordinates that
// some hold for others. The part of a session that knows no GDAL object of a node.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "zarrcore/hierarchy/hierarchy.h"
#include "zarrcore/metadata/array_metadata.h"

namespace gdal_zarr {

class StoredNodes {
 public:
  // `path` is that of the store.
  explicit StoredNodes(std::string path) : path_(std::move(path)) {}
  StoredNodes(const StoredNodes&) = delete;
  StoredNodes& operator=(const StoredNodes&) = delete;

  const std::string& path() const { return path_; }
  const zarrcore::Hierarchy& hierarchy() const { return *hierarchy_; }
  // Whether requests of the store wait for answers, and several can wait at the same time.
  bool is_slow() const { return hierarchy_->store()->traits().parallel_requests > 1; }

  // An array at the root of the store appears in a group that does not exist, under the name of the
  // file without its extension.
  bool root_is_array() const { return !root_array_name_.empty(); }
  const std::string& root_array_name() const { return root_array_name_; }
  // Node paths (hierarchy.h) and the full names of GDAL objects: "a/b" and "/a/b".
  std::string full_name(const std::string& node_path) const;
  std::string node_path(const std::string& full_name) const;

  // The attributes of a node; an empty object when no node (of the `wanted` kind) exists there.
  std::shared_ptr<const zarrcore::Json> attributes(
      const std::string& node_path, std::optional<zarrcore::NodeKind> wanted = {}) const;
  // The metadata of an array, or null when it does not exist or cannot be read.
  std::shared_ptr<const zarrcore::ArrayMetadata> array_metadata(const std::string& node_path) const;
  // The same of an array that may hold coordinates of others. When it cannot be read, the others
  // stay readable without it: a warning, once for each array, says what they lose.
  std::shared_ptr<const zarrcore::ArrayMetadata> coordinate_metadata(
      const std::string& node_path) const;
  // Returns true if the array has one dimension, and the dimension has the array's name.
  bool is_dimension_variable(const std::string& node_path) const;
  void warn_unreadable(const std::string& node_path, const char* problem) const;
  bool is_unreadable(const std::string& node_path) const;

 protected:
  ~StoredNodes() = default;

  std::string path_;
  std::unique_ptr<zarrcore::Hierarchy> hierarchy_;
  std::string root_array_name_;

 private:
  mutable std::mutex unreadable_mutex_;
  mutable std::set<std::string> unreadable_;  // node paths that have been warned of
};

}  // namespace gdal_zarr
