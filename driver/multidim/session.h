// What all objects of one opened Zarr share: the hierarchy, threads and caches, and the objects
// that are alive, so that a node or dimension is one object however it is reached. Groups, arrays
// and dimensions hold the session, which holds none of them: they may outlive the dataset.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>

#include "driver/gdal_compat.h"
#include "zarrcore/hierarchy/hierarchy.h"

namespace gdal_zarr {

class Group;
class Array;
class Dimension;

struct SessionOptions {
  bool use_consolidated = true;
};

class Session : public std::enable_shared_from_this<Session> {
 public:
  // Throws zarrcore::Error when there is no Zarr at `path`.
  static std::shared_ptr<Session> open(const std::string& path, const SessionOptions& options);

  const std::string& path() const { return path_; }
  const zarrcore::Hierarchy& hierarchy() const { return *hierarchy_; }

  // An array at the root of the store appears in a group that is not there, under the name of the
  // file without its extension.
  bool root_is_array() const { return !root_array_name_.empty(); }
  const std::string& root_array_name() const { return root_array_name_; }

  // Node paths (hierarchy.h) and the full names of GDAL objects: "a/b" and "/a/b".
  std::string full_name(const std::string& node_path) const;
  std::string node_path(const std::string& full_name) const;

  std::shared_ptr<Group> root_group();
  // These throw zarrcore::Error when the node cannot be used.
  std::shared_ptr<Group> group(const std::string& node_path);
  std::shared_ptr<Array> array(const std::string& node_path);

  // The dimension `name` of `size` elements as the array at `array_path` sees it: that of the
  // nearest group, from the array's own upwards, which holds a variable for it.
  std::shared_ptr<Dimension> dimension(const std::string& array_path, const std::string& name,
                                       std::uint64_t size);

  // Attributes of a node: an empty object when there is no such node.
  zarrcore::Json attributes(const std::string& node_path) const;
  // Metadata of an array, or null when there is no such array or it cannot be read.
  const zarrcore::ArrayMetadata* array_metadata(
      const std::string& node_path, std::shared_ptr<const zarrcore::NodeMetadata>& holder) const;

 private:
  Session() = default;

  std::string path_;
  std::string root_array_name_;
  std::shared_ptr<zarrcore::Context> context_;
  std::unique_ptr<zarrcore::Hierarchy> hierarchy_;

  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<Group>> groups_;
  std::map<std::string, std::weak_ptr<Array>> arrays_;
  // By group, name and size.
  std::map<std::tuple<std::string, std::string, std::uint64_t>, std::weak_ptr<Dimension>>
      dimensions_;
};

}  // namespace gdal_zarr
