// What all objects of one opened Zarr share: the hierarchy, threads and caches, and the objects
// that are alive, so that a node or dimension is one object however it is reached. Groups, arrays
// and dimensions hold the session, which holds none of them: they may outlive the dataset.
#pragma once

#include <gdal_pam.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "driver/conventions/axis.h"
#include "driver/conventions/multiscales.h"
#include "driver/gdal/compat.h"
#include "zarrcore/array/array_writer.h"
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
  bool is_writable = false;
  // For processes that write the same chunks: the folder of the locks, which all of them name.
  std::string lock_folder = {};
  bool use_consolidated = true;
  bool list_chunks = false;  // see zarrcore/store/listed_store.h
};

class Session : public std::enable_shared_from_this<Session> {
 public:
  // Throws zarrcore::Error when there is no Zarr at `path`.
  static std::shared_ptr<Session> open(const std::string& path, const SessionOptions& options);

  // A new store at `path`, where nothing may stand yet. `format` is zarrcore's. Throws
  // zarrcore::Error.
  static std::shared_ptr<Session> create(const std::string& path, const zarrcore::Format& format,
                                         bool is_consolidated);

  // Flushes what is not; a failure is a CE_Failure.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const std::string& path() const { return path_; }
  const zarrcore::Hierarchy& hierarchy() const { return *hierarchy_; }
  bool is_writable() const { return is_writable_; }
  // The format of the store. Throws zarrcore::Error when no arrays are made in it.
  const zarrcore::Format& new_array_format() const;
  // Throws zarrcore::Error when the store was opened for reading.
  zarrcore::Hierarchy& changing_hierarchy();

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
  // The group at `node_path`, which is there.
  std::shared_ptr<Group> group(const std::string& node_path);
  // Throws zarrcore::Error when the array cannot be used.
  std::shared_ptr<Array> array(const std::string& node_path);

  // Makes a node; the functions throw zarrcore::Error when it cannot be made.
  std::shared_ptr<Group> create_group(const std::string& node_path);
  std::shared_ptr<Array> create_array(const std::string& node_path,
                                      zarrcore::ArrayMetadata metadata);
  // The compound that was given for a new array: its layout counts as long as the session.
  void keep_compound(const zarrcore::Array& array, const GDALExtendedDataType& type);
  // Nothing when there is none, or when the array under that path is another one by now.
  std::optional<GDALExtendedDataType> compound_of_creator(const zarrcore::Array& array) const;
  // Removes the nodes that this session has made, as far as they are still there.
  void erase_created_nodes();
  // Changes a group's attributes.
  void change_attributes(const std::string& node_path,
                         const std::function<void(zarrcore::Json& attributes)>& edit);
  // Removes a node and all below it; objects for them give errors from then on.
  void erase_node(const std::string& node_path);
  // Renames a node. Objects for it and for nodes below it give errors from then on, but for one
  // that is adopted under the new path: the node's own.
  void rename_node(const std::string& node_path, const std::string& name);
  void adopt_group(const std::string& node_path, const std::shared_ptr<Group>& group);
  void adopt_array(const std::string& node_path, const std::shared_ptr<Array>& array);
  // The core's array as its metadata is now.
  std::shared_ptr<const zarrcore::Array> reopen_array(const std::string& node_path);

  // Puts all that waits, of arrays and of metadata. Throws the first zarrcore::Error after all has
  // been tried; what could not be put still waits.
  void flush();
  // Makes arrays that are alive see what others have put. What fails is a CE_Failure.
  void refresh() noexcept;
  // How arrays are written. How much may wait is the configuration option ZARR_WRITE_CACHE_SIZE, in
  // bytes (256 MB).
  zarrcore::WriterOptions writer_options() const;
  // Puts what waits of other arrays when that is more, all taken together.
  void limit_waiting(const Array& current);

  // A dimension of a group that stands for itself, without a variable or an array that has it. It
  // is known as long as the session: stores keep dimensions of arrays alone. Throws zarrcore::Error
  // when there is another one of this name.
  std::shared_ptr<Dimension> create_dimension(const std::string& group, const std::string& name,
                                              const AxisRole& role, std::uint64_t size);
  // Those of a group that were made in this way.
  std::vector<std::shared_ptr<Dimension>> created_dimensions(const std::string& group);

#if GDAL_ZARR_AT_LEAST(3, 7)
  // Gives an array another shape. A dimension that becomes longer or shorter does so for all arrays
  // that share it. What shrinks away is gone; what grows holds the fill value. Throws
  // zarrcore::Error; then some of the arrays may have been changed.
  void resize(const Array& array, const zarrcore::Shape& shape);
#endif

  // The dimension `axis` of the array at `array_path`, or null when it has no name. It belongs to
  // the group that the array says (NCZarr), else to the nearest, from the array's own upwards, that
  // holds a variable for it.
  std::shared_ptr<Dimension> dimension(const std::string& array_path,
                                       const zarrcore::ArrayMetadata& array, std::size_t axis);
  // Reads the variables of the array's dimensions, where a store takes its time, as dimension()
  // looks for them.
  void prefetch_variables(const std::string& array_path,
                          const zarrcore::ArrayMetadata& array) const;
  // The dimension `name` of the group at `group`.
  std::shared_ptr<Dimension> dimension_of_group(const std::string& group, const std::string& name,
                                                std::uint64_t size);

  // The path of the indexing variable of a dimension of a group; empty when there is none.
  std::string variable_path(const std::string& group, const std::string& name,
                            std::uint64_t size) const;

  // The pyramid of which the array at `array_path` is a level, if there is one.
  std::optional<PyramidLevel> find_pyramid(const std::string& array_path) const;
  // The node paths of the arrays at the coarser levels, as far as they are there.
  std::vector<std::string> overview_paths(const std::string& array_path) const;

  // The node path of the array at the finest level, when the one at `array_path` is coarser and
  // that one is there; else empty.
  std::string finest_level_path(const std::string& array_path) const;

  // Attributes of a node: an empty object when there is no such node, as one may count that is not
  // `wanted`.
  std::shared_ptr<const zarrcore::Json> attributes(
      const std::string& node_path, std::optional<zarrcore::NodeKind> wanted = {}) const;
  // Metadata of an array, or null when there is no such array or it cannot be read.
  const zarrcore::ArrayMetadata* array_metadata(
      const std::string& node_path, std::shared_ptr<const zarrcore::NodeMetadata>& holder) const;
  // The same for an array that holds coordinates of others. When it cannot be read, a warning tells
  // what they lose.
  const zarrcore::ArrayMetadata* coordinate_metadata(
      const std::string& node_path, std::shared_ptr<const zarrcore::NodeMetadata>& holder) const;
  // Warns that the coordinates in an array cannot be read; once for each array.
  void warn_of_coordinates(const std::string& node_path, const char* problem) const;

 private:
  struct CreatedDimension {
    std::string name;
    AxisRole role;
    std::uint64_t size;
  };

  Session() = default;
  std::optional<CreatedDimension> find_created(const std::string& group, const std::string& name,
                                               std::uint64_t size) const;
  template <typename Visit>
  void visit_live_arrays(const Visit& visit);
#if GDAL_ZARR_AT_LEAST(3, 7)
  void find_arrays_below(const std::string& group, std::vector<std::shared_ptr<Array>>& found);
  void set_dimension_size(Dimension& dimension, std::uint64_t size);
#endif
  void forget_objects(const std::string& node_path);

  // The array at another level of a pyramid; empty when there is none.
  std::string path_at_level(const PyramidLevel& pyramid, const std::string& array_path,
                            std::size_t level) const;
  // What the attributes of a group say of a pyramid; null when they describe none.
  std::shared_ptr<const Multiscales> multiscales(const std::string& group) const;
  // Whether the group holds an array `name` of one dimension of `size`: its indexing variable.
  bool has_variable(const std::string& group, const std::string& name, std::uint64_t size) const;
  bool is_unreadable(const std::string& node_path) const;

  std::string path_;
  bool is_writable_ = false;
  std::shared_ptr<const zarrcore::FileLocks> locks_;
  std::atomic<unsigned> writes_{0};
  std::string root_array_name_;
  std::shared_ptr<zarrcore::Context> context_;
  std::unique_ptr<zarrcore::Hierarchy> hierarchy_;
  std::shared_ptr<GDALPamMultiDim> pam_;

  mutable std::mutex mutex_;
  mutable std::map<std::string, std::shared_ptr<const Multiscales>> multiscales_;  // by group
  mutable std::set<std::string> unreadable_coordinates_;                           // node paths
  std::map<std::string, std::weak_ptr<Group>> groups_;
  std::map<std::string, std::weak_ptr<Array>> arrays_;
  std::vector<std::string> created_nodes_;
  struct CompoundOfCreator {
    zarrcore::DataType stored;
    GDALExtendedDataType type;
  };
  std::map<std::string, CompoundOfCreator> compounds_;  // by node path
  // By group, name and size.
  std::map<std::tuple<std::string, std::string, std::uint64_t>, std::weak_ptr<Dimension>>
      dimensions_;
  std::map<std::string, std::vector<CreatedDimension>> created_dimensions_;  // by group
};

}  // namespace gdal_zarr
