#include "driver/multidim/rename_dimension.h"

#include <memory>
#include <utility>
#include <vector>

#include "driver/conventions/nczarr.h"
#include "driver/multidim/array.h"
#include "driver/multidim/dimension.h"
#include "driver/multidim/group.h"
#include "driver/multidim/session.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;

struct User {
  std::shared_ptr<Array> array;
  std::vector<std::size_t> axes;  // that are the dimension
};

std::vector<User> find_users(Session& session, const Dimension& dimension) {
  std::vector<User> users;
  for (auto& array : session.arrays_below(dimension.group())) {
    const auto& dimensions = array->GetDimensions();
    std::vector<std::size_t> axes;
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
      if (dimensions[i].get() == &dimension) axes.push_back(i);
    }
    if (!axes.empty()) users.push_back({std::move(array), std::move(axes)});
  }
  return users;
}

// The `spatial:` convention repeats the names of dimensions.
void rename_in_attributes(zarrcore::Json& attributes, const std::string& name,
                          const std::string& new_name) {
  const auto names = attributes.find("spatial:dimensions");
  if (names == attributes.end() || !names->is_array()) return;
  for (zarrcore::Json& one : *names) {
    if (one == name) one = new_name;
  }
}

}  // namespace

void rename_dimension(Session& session, Dimension& dimension, const std::string& name) {
  session.writable_hierarchy();
  if (!zarrcore::is_valid_segment(name)) {
    throw Error("dimension " + dimension.GetFullName() + " cannot be named \"" + name + '"');
  }
  for (const auto& other : session.group(dimension.group())->GetDimensions(nullptr)) {
    if (other->GetName() == name) {
      throw Error("dimension " + dimension.GetFullName() + " cannot be renamed: the group has a " +
                  "dimension " + name + " already");
    }
  }
  const std::vector<User> users = find_users(session, dimension);
  for (const auto& [array, axes] : users) {
    if (!nczarr_dimensions(array->metadata()).empty()) {
      throw Error("dimension " + dimension.GetFullName() + " cannot be renamed: array " +
                  array->GetFullName() + " refers to it as netCDF does");
    }
  }
  for (const auto& [array, axes] : users) {
    array->change([&](zarrcore::ArrayMetadata& metadata) {
      for (const std::size_t axis : axes) metadata.dimension_names[axis] = name;
      rename_in_attributes(metadata.attributes, dimension.GetName(), name);
    });
  }
  session.dimensions().set_name(dimension, name);
}

}  // namespace gdal_zarr
