#include "driver/multidim/dimension.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "driver/conventions/cf/attributes.h"
#include "driver/conventions/evidence.h"
#include "driver/conventions/gdal_attributes.h"  // IWYU pragma: keep, for GDAL 3.8 and newer
#include "driver/gdal/messages.h"
#include "driver/multidim/array.h"
#include "driver/multidim/group.h"  // IWYU pragma: keep, for GDAL 3.8 and newer
#include "driver/multidim/session.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"  // IWYU pragma: keep, for GDAL 3.8 and newer

namespace gdal_zarr {
namespace {

using zarrcore::Error;
using zarrcore::join_path;
using zarrcore::parent_path;

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

// The node path that a name with slashes states; empty for other names.
std::string path_named(const std::string& name) {
  if (name.find('/') == std::string::npos) return {};
  try {
    return zarrcore::normalize_path(name);
  } catch (const zarrcore::Error&) {
    return {};
  }
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
    return path.empty() ? session_->variable_above(group_, GetName(), GetSize())
                        : session_->coordinate_array(path);
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

std::shared_ptr<Dimension> DimensionCatalog::of_array(const std::string& array_path,
                                                      const zarrcore::ArrayMetadata& array,
                                                      std::size_t axis) {
  const std::uint64_t size = array.shape[axis];
  if (const auto paths = nczarr_dimensions(array); !paths.empty()) {
    const std::string_view path = std::string_view(paths[axis]).substr(1);
    return of_group(std::string(parent_path(path)), std::string(zarrcore::last_segment(path)),
                    size);
  }
  std::string name = array.dimension_names[axis].value_or(std::string());
  if (name.empty()) {
    const auto pyramid = session_.pyramid_level(array_path);
    if (!pyramid || pyramid->multiscales->axes.size() != array.shape.size()) return nullptr;
    name = pyramid->multiscales->axes[axis];
    if (name.empty()) return nullptr;
  }
  const std::string own_group(parent_path(array_path));
  // A path from the root, as in references to files of HDF5, "Grid/lon": the array there.
  if (const std::string path = path_named(name); !path.empty()) {
    const std::string group(parent_path(path));
    name = zarrcore::last_segment(path);
    if (has_variable(group, name, size)) return of_group(group, name, size);
  }
  bool may_be_above = true;
  if (zarrcore::is_valid_segment(name) && !session_.root_is_array()) {
    for (const std::string& group : paths_upward(own_group)) {
      if (has_variable(group, name, size) || find_created(group, name, size)) {
        return of_group(group, name, size);
      }
      // An unreadable array may be the variable: one further up would give wrong coordinates.
      if (session_.is_unreadable(join_path(group, name))) {
        may_be_above = false;
        break;
      }
    }
  }
  if (may_be_above && session_.metadata_above("", name, size)) {
    return of_group("", name, size);
  }
  return of_group(own_group, name, size);
}

std::shared_ptr<Dimension> DimensionCatalog::of_group(const std::string& group,
                                                      const std::string& name, std::uint64_t size) {
  return find_or_make(mutex_, live_, std::tuple(group, name, size), [&] {
    const auto created = find_created(group, name, size);
    const std::string variable = variable_path(group, name, size);
    zarrcore::Json attributes = zarrcore::Json::object();
    if (!variable.empty()) {
      attributes = *session_.attributes(variable);
    } else if (const auto above = session_.metadata_above(group, name, size)) {
      attributes = above->attributes;
    }
    const AxisRole role = created ? created->role : find_axis_role(name, attributes);
    return std::make_shared<Dimension>(session_.shared_from_this(), group, name, role, size);
  });
}

void DimensionCatalog::prefetch_variables(const std::string& array_path,
                                          const zarrcore::ArrayMetadata& array) const {
  if (session_.root_is_array()) return;
  std::set<std::string> names;
  std::vector<std::string> paths;
  for (const auto& name : array.dimension_names) {
    if (!name) continue;
    if (std::string path = path_named(*name); !path.empty()) paths.push_back(std::move(path));
    const std::string_view last = zarrcore::last_segment(*name);
    if (zarrcore::is_valid_segment(last)) names.emplace(last);
  }
  for (const GridMapping& mapping : grid_mappings(array.attributes)) {
    if (zarrcore::is_valid_segment(mapping.variable)) names.insert(mapping.variable);
  }
  // CF's auxiliary coordinates, and masks, are in the group of the array.
  for (const char* attribute : {"coordinates", "ancillary_variables"}) {
    for (const std::string& word : cf::words_in(array.attributes, attribute)) {
      if (zarrcore::is_valid_segment(word)) {
        paths.push_back(join_path(parent_path(array_path), word));
      }
    }
  }
  for (const std::string& group : paths_upward(parent_path(array_path))) {
    if (names.empty()) return;
    for (const std::string& name : names) paths.push_back(join_path(group, name));
    const bool is_slow = session_.hierarchy().prefetch(paths, zarrcore::NodeKind::array);
    if (!is_slow || group.empty()) return;
    paths.clear();
    std::erase_if(names, [&](const std::string& name) {
      return session_.array_metadata(join_path(group, name)) != nullptr;
    });
  }
}

std::string DimensionCatalog::variable_path(const std::string& group, const std::string& name,
                                            std::uint64_t size) const {
  return has_variable(group, name, size) ? join_path(group, name) : std::string();
}

bool DimensionCatalog::has_variable(const std::string& group, const std::string& name,
                                    std::uint64_t size) const {
  if (session_.root_is_array() || !zarrcore::is_valid_segment(name)) return false;
  if (!group.empty() && !session_.hierarchy().has(group, zarrcore::NodeKind::group)) return false;
  const auto metadata = session_.coordinate_metadata(join_path(group, name));
  return metadata && metadata->shape == zarrcore::Shape{size};
}

std::shared_ptr<Dimension> DimensionCatalog::create(const std::string& group,
                                                    const std::string& name, const AxisRole& role,
                                                    std::uint64_t size) {
  if (!zarrcore::is_valid_segment(name)) {
    throw zarrcore::Error("\"" + name + "\" is not a valid name of a dimension");
  }
  {
    const std::lock_guard lock(mutex_);
    auto& created = created_[group];
    if (std::ranges::any_of(created, [&](const Created& other) {
          return other.name == name && (other.size == size || !allows_lengths_);
        })) {
      throw zarrcore::Error("group /" + group + " already has a dimension " + name);
    }
    created.push_back({name, role, size});
    live_.erase(std::tuple(group, name, size));
  }
  return of_group(group, name, size);
}

std::vector<std::shared_ptr<Dimension>> DimensionCatalog::created_in(const std::string& group) {
  std::vector<Created> created;
  {
    const std::lock_guard lock(mutex_);
    if (const auto it = created_.find(group); it != created_.end()) created = it->second;
  }
  std::vector<std::shared_ptr<Dimension>> dimensions;
  dimensions.reserve(created.size());
  for (const Created& one : created) dimensions.push_back(of_group(group, one.name, one.size));
  return dimensions;
}

std::optional<DimensionCatalog::Created> DimensionCatalog::find_created(const std::string& group,
                                                                        const std::string& name,
                                                                        std::uint64_t size) const {
  const std::lock_guard lock(mutex_);
  const auto it = created_.find(group);
  if (it == created_.end()) return std::nullopt;
  const auto found = std::ranges::find_if(
      it->second, [&](const Created& one) { return one.name == name && one.size == size; });
  return found == it->second.end() ? std::nullopt : std::optional(*found);
}

void DimensionCatalog::forget_below(const std::string& node_path) {
  const std::lock_guard lock(mutex_);
  std::erase_if(created_,
                [&](const auto& item) { return zarrcore::is_at_or_below(item.first, node_path); });
}

void DimensionCatalog::set_key(const DimensionKey& key, const DimensionKey& new_key) {
  auto node = live_.extract(key);
  if (!node) return;
  node.key() = new_key;
  live_.erase(new_key);
  live_.insert(std::move(node));
}

void DimensionCatalog::move(const std::string& node_path, const std::string& new_path) {
  const std::lock_guard lock(mutex_);
  std::map<std::string, std::vector<Created>> created;
  for (auto& [group, dimensions] : created_) {
    created[zarrcore::moved_path(group, node_path, new_path)] = std::move(dimensions);
  }
  created_ = std::move(created);
  const auto live = live_;
  for (const auto& [key, weak] : live) {
    const auto& [group, name, size] = key;
    const std::string moved = zarrcore::moved_path(group, node_path, new_path);
    if (moved == group) continue;
    if (const auto dimension = weak.lock()) dimension->set_group(moved);
    set_key(key, {moved, name, size});
  }
}

void DimensionCatalog::set_name(Dimension& dimension, const std::string& name) {
  const std::lock_guard lock(mutex_);
  auto& created = created_[dimension.group()];
  const auto is_it = [&](const Created& one) {
    return one.name == dimension.GetName() && one.size == dimension.GetSize();
  };
  // Arrays of groups below it still find it where no variable has its new name.
  if (std::ranges::none_of(created, is_it)) {
    created.push_back({dimension.GetName(),
                       {dimension.GetType(), dimension.GetDirection()},
                       dimension.GetSize()});
  }
  std::ranges::find_if(created, is_it)->name = name;
  set_key({dimension.group(), dimension.GetName(), dimension.GetSize()},
          {dimension.group(), name, dimension.GetSize()});
  dimension.set_name(name);
}

void DimensionCatalog::set_size(Dimension& dimension, std::uint64_t size) {
  const std::lock_guard lock(mutex_);
  for (Created& created : created_[dimension.group()]) {
    if (created.name == dimension.GetName()) created.size = size;
  }
  set_key({dimension.group(), dimension.GetName(), dimension.GetSize()},
          {dimension.group(), dimension.GetName(), size});
  dimension.set_size(size);
}

}  // namespace gdal_zarr
