// The dimensions of a store. Zarr only gives names to the dimensions of arrays; here they become
// objects of groups, one for each group, name and length, shared by all arrays that mean the same.
#pragma once

#include <gdal_priv.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "driver/conventions/axis.h"
#include "driver/conventions/geotransform.h"
#include "driver/gdal/compat.h"
#include "zarrcore/base/json.h"
#include "zarrcore/metadata/array_metadata.h"

namespace gdal_zarr {

class Array;
class Session;

class Dimension final : public GDALDimension {
 public:
  // `group` is the node path of the group.
  Dimension(std::shared_ptr<Session> session, std::string group, const std::string& name,
            const AxisRole& role, std::uint64_t size);

  // The array of one dimension that has the dimension's name, in its group.
  std::shared_ptr<GDALMDArray> GetIndexingVariable() const override;
  // Succeeds only for that array: in Zarr, the name is the only link between the two.
  bool SetIndexingVariable(std::shared_ptr<GDALMDArray> variable) override;

#if GDAL_ZARR_AT_LEAST(3, 8)
  // Renames it in all arrays that have the dimension. Its variable keeps its own name, and no
  // longer is the variable of the dimension.
  bool Rename(const std::string& name) override;
#endif

  const std::string& group() const { return group_; }

  // Called by the catalog when all arrays have the new length or name, or when the group was
  // renamed.
  void set_size(std::uint64_t size) { m_nSize = size; }
  void set_name(const std::string& name);
  void set_group(const std::string& group);

 private:
  std::shared_ptr<Session> session_;
  std::string group_;
  std::string variable_path_;  // when the object was created; empty if there is no variable
};

// Gives an array another shape. A dimension that becomes longer or shorter does so for all arrays
// that share it. Elements outside the new shape are lost; new elements have the fill value. Throws
// zarrcore::Error; some of the arrays may have been changed by then.
void resize_arrays(const Array& array, const zarrcore::Shape& shape);

// Returns the live object for `key` in `objects`, a map to weak pointers guarded by `mutex`;
// otherwise the object that `make` returns. `make` runs without the lock.
template <typename Map, typename Key, typename Make>
auto find_or_make(std::mutex& mutex, Map& objects, const Key& key, const Make& make) {
  {
    const std::lock_guard lock(mutex);
    if (const auto it = objects.find(key); it != objects.end()) {
      if (auto object = it->second.lock()) return object;
    }
  }
  auto made = make();
  const std::lock_guard lock(mutex);
  auto& slot = objects[key];
  if (auto object = slot.lock()) return object;  // another thread was faster
  slot = made;
  return made;
}

using DimensionKey = std::tuple<std::string, std::string, std::uint64_t>;  // group, name, size

class DimensionCatalog {
 public:
  // The dimensions of a session, of which this is a member.
  explicit DimensionCatalog(Session& session) : session_(session) {}

  // The dimension `axis` of an array, or null when it has no name. It belongs to the group that the
  // array states (NCZarr), else to the nearest, from the array's own upwards, that holds a variable
  // for it.
  std::shared_ptr<Dimension> of_array(const std::string& array_path,
                                      const zarrcore::ArrayMetadata& array, std::size_t axis);
  std::shared_ptr<Dimension> of_group(const std::string& group, const std::string& name,
                                      std::uint64_t size);
  // In a slow store, reads several variables at once: the variables that of_array() will look for,
  // and the variables with the array's CRS and coordinates.
  void prefetch_variables(const std::string& array_path,
                          const zarrcore::ArrayMetadata& array) const;
  // The path of a dimension's indexing variable; empty when it has none.
  std::string variable_path(const std::string& group, const std::string& name,
                            std::uint64_t size) const;

  // Creates a dimension that no array has yet. It lasts as long as the session. Throws
  // zarrcore::Error when the group already has one of this name, with allow_lengths() also of this
  // length.
  std::shared_ptr<Dimension> create(const std::string& group, const std::string& name,
                                    const AxisRole& role, std::uint64_t size);
  // Called before others use the catalog.
  void allow_lengths() { allows_lengths_ = true; }
  // The dimensions that create() has created in a group.
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

  Session& session_;
  bool allows_lengths_ = false;
  mutable std::mutex mutex_;
  std::map<DimensionKey, std::weak_ptr<Dimension>> live_;
  std::map<std::string, std::vector<Created>> created_;  // by group
};

// The coordinates of a RegularDimension.
struct ComputedCoordinates {
  RegularAxis axis{};
  // If set, instead of the axis: called when they are first read; empty if they cannot be read.
  std::function<std::vector<double>()> load = {};
  zarrcore::Json attributes = zarrcore::Json::object();
  std::string unit = {};
  // True if they are distances from the first element, which do not place a raster.
  bool is_relative = false;
};

// A dimension whose coordinates follow from the metadata of its array: from a geotransform, from
// the length of a step, or from coordinates in another unit.
class RegularDimension final : public GDALDimension,
                               public std::enable_shared_from_this<RegularDimension> {
 public:
  // Like `dimension`, with other coordinates. To be owned by a shared pointer.
  RegularDimension(const GDALDimension& dimension, ComputedCoordinates coordinates);

  // A computed variable, which is not in the store. It owns the dimension; if it has been released,
  // a new one is created.
  std::shared_ptr<GDALMDArray> GetIndexingVariable() const override;
  const ComputedCoordinates& coordinates() const { return coordinates_; }

 private:
  ComputedCoordinates coordinates_;
  mutable std::mutex mutex_;
  mutable std::weak_ptr<GDALMDArray> variable_;
};

// Replaces dimensions of an array that have no variable by regular ones, if its metadata state
// their positions; and dimensions in the angles of a satellite's view by ones in lengths. Not in a
// writable store, where programs create the variable.
void place_dimensions(const std::shared_ptr<const Array>& array,
                      std::vector<std::shared_ptr<GDALDimension>>& dimensions);

}  // namespace gdal_zarr
