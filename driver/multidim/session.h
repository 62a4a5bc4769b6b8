// What all objects of one opened Zarr share: the hierarchy, threads and caches, and the objects
// that are alive, so that a node or dimension is one object however it is reached. Groups, arrays
// and dimensions hold the session, which holds none of them: they may outlive the dataset.
#pragma once

#include <gdal_pam.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "driver/conventions/multiscales.h"
#include "driver/gdal_compat.h"
#include "zarrcore/hierarchy/hierarchy.h"

namespace gdal_zarr {

class Group;
class Array;
class Dimension;

// An array as a level of a pyramid.
struct PyramidLevel {
  std::string group;  // node path of the group that describes the pyramid
  std::shared_ptr<const Multiscales> multiscales;
  std::size_t level = 0;  // of multiscales->levels
  std::string suffix;     // path of the array below the level's asset; empty when it is the asset

  const zarrcore::Json& entry() const { return multiscales->levels[level].entry; }
};

struct SessionOptions {
  bool use_consolidated = true;
  bool list_chunks = false;  // see zarrcore/store/listed_store.h
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

  // What is kept beside the store because it has no place in it (statistics).
  const std::shared_ptr<GDALPamMultiDim>& pam() const { return pam_; }

  // Makes room for that many bytes of decoded chunks beside those that are there anyway.
  void reserve_chunk_cache(std::uint64_t bytes);

  std::shared_ptr<Group> root_group();
  // These throw zarrcore::Error when the node cannot be used.
  std::shared_ptr<Group> group(const std::string& node_path);
  std::shared_ptr<Array> array(const std::string& node_path);

  // The dimension `axis` of the array at `array_path`, or null when it has no name. It belongs to
  // the group that the array says (NCZarr), else to the nearest, from the array's own upwards, that
  // holds a variable for it.
  std::shared_ptr<Dimension> dimension(const std::string& array_path,
                                       const zarrcore::ArrayMetadata& array, std::size_t axis);
  // The dimension `name` of the group at `group`.
  std::shared_ptr<Dimension> dimension_of_group(const std::string& group, const std::string& name,
                                                std::uint64_t size);

  // The pyramid of which the array at `array_path` is a level, if there is one.
  std::optional<PyramidLevel> find_pyramid(const std::string& array_path) const;
  // The node paths of the arrays at the coarser levels, as far as they are there.
  std::vector<std::string> overview_paths(const std::string& array_path) const;

  // The node path of the array at the finest level, when the one at `array_path` is coarser and
  // that one is there; else empty.
  std::string finest_level_path(const std::string& array_path) const;

  // Attributes of a node: an empty object when there is no such node.
  std::shared_ptr<const zarrcore::Json> attributes(const std::string& node_path) const;
  // Metadata of an array, or null when there is no such array or it cannot be read.
  const zarrcore::ArrayMetadata* array_metadata(
      const std::string& node_path, std::shared_ptr<const zarrcore::NodeMetadata>& holder) const;

 private:
  Session() = default;

  // The array at another level of a pyramid; empty when there is none.
  std::string path_at_level(const PyramidLevel& pyramid, const std::string& array_path,
                            std::size_t level) const;
  // What the attributes of a group say of a pyramid; null when they describe none.
  std::shared_ptr<const Multiscales> multiscales(const std::string& group) const;
  // Whether the group holds an array `name` of one dimension of `size`: its indexing variable.
  bool has_variable(const std::string& group, const std::string& name, std::uint64_t size) const;

  std::string path_;
  std::string root_array_name_;
  std::shared_ptr<zarrcore::Context> context_;
  std::unique_ptr<zarrcore::Hierarchy> hierarchy_;
  std::shared_ptr<GDALPamMultiDim> pam_;

  mutable std::mutex mutex_;
  mutable std::map<std::string, std::shared_ptr<const Multiscales>> multiscales_;  // by group
  std::map<std::string, std::weak_ptr<Group>> groups_;
  std::map<std::string, std::weak_ptr<Array>> arrays_;
  // By group, name and size.
  std::map<std::tuple<std::string, std::string, std::uint64_t>, std::weak_ptr<Dimension>>
      dimensions_;
};

}  // namespace gdal_zarr
