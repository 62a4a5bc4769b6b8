#include "driver/multidim/dimension.h"

#include <map>
#include <utility>

#include "driver/conventions/gdal_attributes.h"  // IWYU pragma: keep, for GDAL 3.8 and newer
#include "driver/gdal/error_guard.h"
#include "driver/multidim/array.h"
#include "driver/multidim/group.h"  // IWYU pragma: keep, for GDAL 3.8 and newer
#include "driver/multidim/session.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"  // IWYU pragma: keep, for GDAL 3.8 and newer

namespace gdal_zarr {

using zarrcore::Error;

namespace {

struct DimensionUser {
  std::shared_ptr<Array> array;
  std::vector<std::size_t> axes;  // that are the dimension
};

std::vector<DimensionUser> users_of(Session& session, const Dimension& dimension) {
  std::vector<DimensionUser> users;
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

// The dimensions that get another length.
std::map<std::shared_ptr<Dimension>, std::uint64_t> changed_dimensions(
    const Array& array, const zarrcore::Shape& shape) {
  const auto& dimensions = array.known_dimensions();
  std::map<std::shared_ptr<Dimension>, std::uint64_t> sizes;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    auto dimension = std::dynamic_pointer_cast<Dimension>(dimensions[i]);
    if (!dimension) continue;
    const std::uint64_t size = sizes.emplace(std::move(dimension), shape[i]).first->second;
    if (size != shape[i]) {
      throw Error("array " + array.GetFullName() + ": dimension " + dimensions[i]->GetName() +
                  " cannot have two lengths");
    }
  }
  std::erase_if(sizes, [](const auto& item) { return item.first->GetSize() == item.second; });
  return sizes;
}

}  // namespace

Dimension::Dimension(std::shared_ptr<Session> session, std::string group, const std::string& name,
                     const AxisRole& role, std::uint64_t size)
    : GDALDimension('/' + group, name, role.type, role.direction, size),
      session_(std::move(session)),
      group_(std::move(group)),
      variable_path_(session_->dimensions().variable_path(group_, name, size)) {}

std::shared_ptr<GDALMDArray> Dimension::GetIndexingVariable() const {
  return guarded<std::shared_ptr<GDALMDArray>>(nullptr, [&]() -> std::shared_ptr<GDALMDArray> {
    // In a writable store, the variable may be created or removed at any time.
    const std::string path =
        session_->is_writable() ? session_->dimensions().variable_path(group_, GetName(), GetSize())
                                : variable_path_;
    if (path.empty()) {
      return session_->variable_above(group_, GetName(), GetSize());
    }
    try {
      return session_->array(path);
    } catch (const Error& error) {
      session_->warn_unreadable(path, error.what());
      return nullptr;
    }
  });
}

#if GDAL_ZARR_AT_LEAST(3, 8)
bool Dimension::Rename(const std::string& name) {
  return guarded(false, [&] {
    session_->writable_hierarchy();
    if (!zarrcore::is_valid_segment(name)) {
      throw Error("dimension " + GetFullName() + " cannot be named \"" + name + '"');
    }
    for (const auto& other : session_->group(group_)->GetDimensions(nullptr)) {
      if (other->GetName() == name) {
        throw Error("dimension " + GetFullName() + " cannot be renamed: the group has a " +
                    "dimension " + name + " already");
      }
    }
    const std::vector<DimensionUser> users = users_of(*session_, *this);
    for (const auto& [array, axes] : users) {
      if (!nczarr_dimensions(array->metadata()).empty()) {
        throw Error("dimension " + GetFullName() + " cannot be renamed: array " +
                    array->GetFullName() + " refers to it as netCDF does");
      }
    }
    for (const auto& [array, axes] : users) {
      array->change([&](zarrcore::ArrayMetadata& metadata) {
        for (const std::size_t axis : axes) metadata.dimension_names[axis] = name;
        // The `spatial:` convention repeats the names of dimensions.
        const auto repeated = metadata.attributes.find("spatial:dimensions");
        if (repeated == metadata.attributes.end() || !repeated->is_array()) return;
        for (zarrcore::Json& one : *repeated) {
          if (one == GetName()) one = name;
        }
      });
    }
    session_->dimensions().set_name(*this, name);
    return true;
  });
}

void Dimension::set_name(const std::string& name) {
  BaseRename(name);
  variable_path_.clear();
}

void Dimension::set_group(const std::string& group) {
  variable_path_ = zarrcore::moved_path(variable_path_, group_, group);
  group_ = group;
  ParentRenamed('/' + group);
}
#else
// GDAL cannot rename dimensions before 3.8.
void Dimension::set_name(const std::string& /*name*/) {}
void Dimension::set_group(const std::string& /*group*/) {}
#endif

bool Dimension::SetIndexingVariable(std::shared_ptr<GDALMDArray> variable) {
  return guarded(false, [&] {
    if (!variable) {
      throw Error("the indexing variable of dimension " + GetFullName() +
                  " is the array of its name and cannot be unset");
    }
    if (variable->GetFullName() != GetFullName() || variable->GetDimensionCount() != 1 ||
        variable->GetDimensions()[0]->GetSize() != GetSize()) {
      throw Error("array " + variable->GetFullName() +
                  " cannot be the indexing variable of dimension " + GetFullName() +
                  ", which is the array of this name and length");
    }
    return true;
  });
}

void resize_arrays(const Array& array, const zarrcore::Shape& shape) {
  Session& session = *array.session();
  session.writable_hierarchy();
  const auto sizes = changed_dimensions(array, shape);
  // The array itself, and all that share one of the dimensions.
  std::map<std::string, zarrcore::Shape> shapes{{array.node_path(), shape}};
  std::vector<std::shared_ptr<Array>> arrays{session.array(array.node_path())};
  for (const auto& [dimension, size] : sizes) {
    for (const auto& [other, axes] : users_of(session, *dimension)) {
      const auto [it, is_new] = shapes.emplace(other->node_path(), other->core().shape());
      for (const std::size_t axis : axes) it->second[axis] = size;
      if (is_new) arrays.push_back(other);
    }
  }
  for (const auto& other : arrays) other->set_shape(shapes[other->node_path()]);
  for (const auto& [dimension, size] : sizes) session.dimensions().set_size(*dimension, size);
  for (const auto& other : arrays) other->forget_dimensions();
}

}  // namespace gdal_zarr
