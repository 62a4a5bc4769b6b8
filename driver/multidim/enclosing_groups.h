// The groups above a store. A node that is opened by its own path may have its coordinates and its
// grid mapping in one of the folders above it, which are not part of the store then.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "driver/multidim/pyramids.h"
#include "zarrcore/base/json.h"

namespace gdal_zarr {

class Array;
class Session;

// An array as a level of a pyramid, in the store whose group describes the pyramid.
struct PyramidMember {
  std::shared_ptr<Session> session;
  std::string array_path;
  PyramidLevel level;
};

class EnclosingGroups {
 public:
  explicit EnclosingGroups(const Session& session) : session_(session) {}

  // A variable of this name and length in the nearest group above that has one; null if there is
  // none. `group` is the group that NCZarr states, from the root of its store on, or empty.
  std::shared_ptr<Array> find_variable(const std::string& group, const std::string& name,
                                       std::uint64_t size) const;
  // The attributes of the node `name` in the nearest group above that has it; null if none has.
  std::shared_ptr<const zarrcore::Json> find_attributes(const std::string& name) const;
  // The pyramid to which an array of the store belongs, as the nearest group above that has one for
  // it describes it.
  std::optional<PyramidMember> find_pyramid(const std::string& array_path) const;
  // The path of the store's root group in the NCZarr dataset that it is a part of, as
  // "group/below"; empty if it is none. For an array, that of its group.
  std::string nczarr_path() const;
  // The session of the whole NCZarr dataset; null if nczarr_path() is empty.
  std::shared_ptr<Session> nczarr_root() const;
  // The session whose root is the group in the folder above, opened for reading when it is first
  // needed; null if there is no such group, or if looking for it would cost too much.
  std::shared_ptr<Session> parent() const;

 private:
  // Empty if nothing above is worth looking at.
  std::string parent_folder() const;
  std::shared_ptr<Session> open_parent() const;

  const Session& session_;
  mutable std::mutex mutex_;
  mutable std::optional<std::shared_ptr<Session>> parent_;
};

}  // namespace gdal_zarr
