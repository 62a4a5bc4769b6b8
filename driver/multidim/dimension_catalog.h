// The dimensions of a store. Zarr only gives names to the dimensions of arrays; here they become
// objects of groups, one for each group, name and length, shared by all arrays that mean the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "driver/conventions/axis.h"
#include "zarrcore/metadata/array_metadata.h"

namespace gdal_zarr {

class Dimension;
class EnclosingGroups;
class Pyramids;
class StoredNodes;

using DimensionKey = std::tuple<std::string, std::string, std::uint64_t>;  // group, name, size

class DimensionCatalog {
 public:
  using MakeDimension =
      std::function<std::shared_ptr<Dimension>(const DimensionKey& key, const AxisRole& role)>;

  // Of a store, which must outlive it, as must what else it uses.
  DimensionCatalog(const StoredNodes& nodes, const Pyramids& pyramids,
                   const EnclosingGroups& enclosing_groups, MakeDimension make)
      : nodes_(nodes),
        pyramids_(pyramids),
        enclosing_groups_(enclosing_groups),
        make_(std::move(make)) {}

  // The dimension `axis` of an array, or null when it has no name. It belongs to the group that the
  // array states (NCZarr), else to the nearest, from the array's own upwards, that holds a variable
  // for it.
  std::shared_ptr<Dimension> of_array(const std::string& array_path,
                                      const zarrcore::ArrayMetadata& array, std::size_t axis);
  std::shared_ptr<Dimension> of_group(const std::string& group, const std::string& name,
                                      std::uint64_t size);
  // Reads at once, where the store is slow, the variables that of_array() will look for, and those
  // that give the array its CRS and its coordinates.
  void prefetch_variables(const std::string& array_path,
                          const zarrcore::ArrayMetadata& array) const;
  // The path of a dimension's indexing variable; empty when it has none.
  std::string variable_path(const std::string& group, const std::string& name,
                            std::uint64_t size) const;

  // Creates a dimension that no array has yet. It lasts as long as the session. Throws
  // zarrcore::Error when the group already has one of this name.
  std::shared_ptr<Dimension> create(const std::string& group, const std::string& name,
                                    const AxisRole& role, std::uint64_t size);
  // The dimensions of a group made by create().
  std::vector<std::shared_ptr<Dimension>> created_in(const std::string& group);
  // Forgets the dimensions created in a group that was removed, or below it.
  void forget_below(const std::string& node_path);
  // The dimensions of a group that has another path now, or of groups below it, belong to that.
  void move(const std::string& node_path, const std::string& new_path);
  // All arrays that have the dimension now call it `name`.
  void set_name(Dimension& dimension, const std::string& name);
  // All arrays that have the dimension now have this length.
  void set_size(Dimension& dimension, std::uint64_t size);

 private:
  struct Created {
    std::string name;
    AxisRole role;
    std::uint64_t size;
  };

  std::optional<Created> find_created(const std::string& group, const std::string& name,
                                      std::uint64_t size) const;
  // Finds a live dimension under another key. Requires the mutex.
  void set_key(const DimensionKey& key, const DimensionKey& new_key);
  bool has_variable(const std::string& group, const std::string& name, std::uint64_t size) const;

  const StoredNodes& nodes_;
  const Pyramids& pyramids_;
  const EnclosingGroups& enclosing_groups_;
  MakeDimension make_;
  mutable std::mutex mutex_;
  std::map<DimensionKey, std::weak_ptr<Dimension>> live_;
  std::map<std::string, std::vector<Created>> created_;  // by group
};

}  // namespace gdal_zarr
