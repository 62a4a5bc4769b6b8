#include "driver/multidim/group.h"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <cpl_vsi.h>

#include <algorithm>
#include <set>

#include "driver/conventions/gdal_attributes.h"
#include "driver/gdal/messages.h"
#include "driver/multidim/array.h"  // IWYU pragma: keep, a complete type to return
#include "driver/multidim/dimension.h"
#include "driver/multidim/mask_arrays.h"  // IWYU pragma: keep, for newer versions of GDAL
#include "driver/new_array/creation_options.h"
#include "driver/new_array/new_array.h"
#include "driver/stores/vsi/object_store.h"
#include "driver/stores/vsi/vsi_file.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {

using zarrcore::Error;
using zarrcore::join_path;
using zarrcore::Json;
using zarrcore::last_segment;
using zarrcore::parent_path;

Group::Group(std::shared_ptr<Session> session, std::string node_path, const std::string& path)
    : WithAttributes(path.empty() ? std::string() : '/' + std::string(parent_path(path)),
                     path.empty() ? "/" : std::string(last_segment(path))),
      session_(std::move(session)),
      node_path_(std::move(node_path)) {}

std::shared_ptr<Group> Group::create(std::shared_ptr<Session> session, std::string node_path) {
  const std::string path = join_path(session->nczarr_path(), node_path);
  const std::shared_ptr<Group> group(new Group(std::move(session), std::move(node_path), path));
#if GDAL_ZARR_AT_LEAST(3, 8)
  group->SetSelf(group);
#endif
  return group;
}

void Group::check_is_container() const {
  check_exists();
  if (session_->root_is_array()) {
    throw Error(session_->path() + " is an array by itself, in no group that could hold others");
  }
}

std::string Group::path_of(const std::string& name) const {
  if (!zarrcore::is_valid_segment(name)) {
    throw Error("\"" + name + "\" is not a valid name of a group or array");
  }
  return join_path(node_path_, name);
}

// The path of a new node. Throws for names that GDAL's built-in driver refuses as well: some file
// systems do not have them, or they look like slices or documents.
std::string Group::new_path_of(const std::string& name) const {
  if (name.find(':') != std::string::npos || name.starts_with(".z")) {
    throw Error("\"" + name + "\" is not a valid name of a new group or array: it " +
                (name.starts_with(".z") ? "begins with .z" : "contains a colon"));
  }
  std::string path = path_of(name);
  // The store sees an empty folder as nothing. Object stores have no folders.
  const std::string folder = session_->path() + '/' + path;
  if (!is_in_object_store(folder) && is_folder(folder) && !session_->hierarchy().node(path)) {
    const CPLStringList files(VSIReadDir(folder.c_str()));
    bool is_empty = true;
    for (int i = 0; i < files.size(); ++i) {
      is_empty = is_empty && (EQUAL(files[i], ".") || EQUAL(files[i], ".."));
    }
    if (is_empty) throw Error("the folder " + folder + " already exists");
  }
  return path;
}

// Members.

std::vector<std::string> Group::child_paths(zarrcore::NodeKind kind) const {
  std::vector<std::string> paths;
  if (session_->root_is_array()) {
    if (kind == zarrcore::NodeKind::array) paths.emplace_back();
    return paths;
  }
  for (const std::string& name : session_->hierarchy().child_names(node_path_, kind)) {
    std::string path = join_path(node_path_, name);
    if (!session_->is_unfinished_copy(path)) paths.push_back(std::move(path));
  }
  return paths;
}

// For an array opened by its own path: shown in the root group, as if they were in it.
std::vector<std::shared_ptr<GDALMDArray>> Group::variables_above() const {
  std::vector<std::shared_ptr<GDALMDArray>> variables;
  const auto array = session_->array("");
  for (const auto& dimension : array->GetDimensions()) {
    auto variable = dimension->GetIndexingVariable();
    if (variable && variable->GetName() != session_->root_array_name()) {
      variables.push_back(std::move(variable));
    }
  }
  return variables;
}

std::vector<std::string> Group::GetMDArrayNames(CSLConstList /*options*/) const {
  return guarded<std::vector<std::string>>({}, [&] {
    check_exists();
    std::vector<std::string> names;
    if (session_->root_is_array()) {
      for (const auto& variable : variables_above()) names.push_back(variable->GetName());
      names.push_back(session_->root_array_name());
      return names;
    }
    std::vector<std::string> paths = child_paths(zarrcore::NodeKind::array);
    // The netCDF driver takes the first array that is created along X for the coordinates of X.
    // Which arrays are coordinates is known from the documents of all.
    constexpr std::size_t kMostOrdered = 256;
    if (paths.size() <= kMostOrdered) {
      std::stable_partition(paths.begin(), paths.end(), [&](const std::string& path) {
        return session_->is_dimension_variable(path);
      });
    }
    for (const std::string& path : paths)
      names.emplace_back(path.empty() ? "/" : last_segment(path));
    return names;
  });
}

std::vector<std::string> Group::GetGroupNames(CSLConstList /*options*/) const {
  return guarded<std::vector<std::string>>({}, [&] {
    check_exists();
    std::vector<std::string> names;
    for (const std::string& path : child_paths(zarrcore::NodeKind::group))
      names.emplace_back(last_segment(path));
    // The groups that netCDF states, whether or not they exist.
    if (const auto group = session_->group_metadata(node_path_)) {
      for (const std::string& name : nczarr_group_names(*group)) {
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
      }
    }
    return names;
  });
}

std::shared_ptr<GDALMDArray> Group::OpenMDArray(const std::string& name,
                                                CSLConstList /*options*/) const {
  return guarded<std::shared_ptr<GDALMDArray>>(nullptr, [&]() -> std::shared_ptr<GDALMDArray> {
    check_exists();
    if (session_->root_is_array()) {
      if (name == session_->root_array_name()) return session_->array("");
      for (const auto& variable : variables_above()) {
        if (variable->GetName() == name) return variable;
      }
      return nullptr;
    }
    const std::string path = zarrcore::normalize_path(join_path(node_path_, name));
    if (session_->has_node(path, zarrcore::NodeKind::array)) return session_->array(path);
    session_->hierarchy().check_not_denied(path);
    return nullptr;
  });
}

std::shared_ptr<GDALGroup> Group::OpenGroup(const std::string& name,
                                            CSLConstList /*options*/) const {
  return guarded<std::shared_ptr<GDALGroup>>(nullptr, [&]() -> std::shared_ptr<GDALGroup> {
    check_exists();
    const std::string path = zarrcore::normalize_path(join_path(node_path_, name));
    if (!session_->root_is_array() && session_->has_node(path, zarrcore::NodeKind::group)) {
      return session_->group(path);
    }
    // Full names of dimensions and their variables begin at the root of an NCZarr dataset.
    const auto outer = node_path_.empty() ? session_->nczarr_root() : nullptr;
    const bool leads_here = outer && (session_->nczarr_path() + '/').starts_with(name + '/');
    if (leads_here) return outer->root_group()->OpenGroup(name, nullptr);
    if (!session_->root_is_array()) session_->hierarchy().check_not_denied(path);
    return nullptr;
  });
}

// The dimensions that the group defines, and the dimensions of its arrays that no group above
// defines.
std::vector<std::shared_ptr<GDALDimension>> Group::GetDimensions(CSLConstList /*options*/) const {
  return guarded<std::vector<std::shared_ptr<GDALDimension>>>({}, [&] {
    check_exists();
    std::vector<std::shared_ptr<GDALDimension>> dimensions;
    const std::string own_path = GetFullName().substr(1);
    std::set<const GDALDimension*> known;
    const auto add = [&](std::shared_ptr<Dimension> dimension) {
      if (dimension && (dimension->group() == own_path || dimension->group() == node_path_) &&
          known.insert(dimension.get()).second) {
        dimensions.push_back(std::move(dimension));
      }
    };
    if (const auto group = session_->group_metadata(node_path_)) {
      for (const auto& [name, size] : nczarr_group_dimensions(*group)) {
        add(session_->dimensions().of_group(own_path, name, size));
      }
    }
    for (auto& created : session_->dimensions().created_in(node_path_)) add(std::move(created));
    for (const std::string& path : child_paths(zarrcore::NodeKind::array)) {
      const auto metadata = session_->array_metadata(path);
      if (!metadata) continue;
      for (std::size_t i = 0; i < metadata->shape.size(); ++i) {
        add(session_->dimensions().of_array(path, *metadata, i));
      }
    }
    return dimensions;
  });
}

// Creating, removing and renaming.

std::shared_ptr<GDALGroup> Group::CreateGroup(const std::string& name, CSLConstList /*options*/) {
  return guarded<std::shared_ptr<GDALGroup>>(nullptr, [&] {
    check_is_container();
    return session_->create_group(new_path_of(name));
  });
}

std::shared_ptr<GDALDimension> Group::CreateDimension(const std::string& name,
                                                      const std::string& type,
                                                      const std::string& direction, GUInt64 size,
                                                      CSLConstList /*options*/) {
  return guarded<std::shared_ptr<GDALDimension>>(nullptr, [&] {
    check_is_container();
    session_->writable_hierarchy();
    return session_->dimensions().create(node_path_, name, {type, direction}, size);
  });
}

std::shared_ptr<GDALMDArray> Group::CreateMDArray(
    const std::string& name, const std::vector<std::shared_ptr<GDALDimension>>& dimensions,
    const GDALExtendedDataType& type, CSLConstList options) {
  return guarded<std::shared_ptr<GDALMDArray>>(nullptr, [&] {
    check_is_container();
    if (const std::string path = new_path_of(name); session_->skips_copy(path))
      return session_->array(path);
    NewArray array;
    array.type = GDALExtendedDataType(type);
    array.format = &session_->new_array_format();
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
      array.shape.push_back(dimensions[i]->GetSize());
      array.dimension_names.push_back(dimensions[i]->GetName());
      if (dimensions[i]->GetType() == GDAL_DIM_TYPE_HORIZONTAL_X) array.x = i;
      if (dimensions[i]->GetType() == GDAL_DIM_TYPE_HORIZONTAL_Y) array.y = i;
    }
    warn_of_unused_options(options, kArrayOption);
    const CPLStringList own = without_source_blocks(options);
    zarrcore::ArrayMetadata metadata = make_array_metadata(array, own.List());
    if (dimensions.size() == 1 && dimensions[0]->GetName() == name) {
      metadata.attributes =
          axis_attributes(name, {dimensions[0]->GetType(), dimensions[0]->GetDirection()});
    }
    const auto created = session_->create_array(new_path_of(name), std::move(metadata));
    created->set_stores_empty_chunks(
        CreationOptions(own.List(), kArrayOption).boolean("WRITE_EMPTY_CHUNKS"));
    created->set_creation({std::move(array), own});
    if (type.GetClass() != GEDTC_COMPOUND) return created;
    session_->set_compound(created->core(), type);
    created->set_compound(type);
    return created;
  });
}

#if GDAL_ZARR_AT_LEAST(3, 8)
template <typename Metadata>
bool Group::erase_child(const std::string& name, const char* kind) {
  return guarded(false, [&] {
    check_is_container();
    const auto node = session_->hierarchy().node(path_of(name));
    if (!node || !std::holds_alternative<Metadata>(*node)) {
      throw Error("group " + GetFullName() + " has no " + kind + ' ' + name);
    }
    auto paths = mask_paths(*session_, path_of(name), true);
    paths.push_back(path_of(name));
    session_->erase_nodes(paths);
  });
}

bool Group::DeleteGroup(const std::string& name, CSLConstList /*options*/) {
  return erase_child<zarrcore::GroupMetadata>(name, "group");
}

bool Group::DeleteMDArray(const std::string& name, CSLConstList /*options*/) {
  return erase_child<zarrcore::ArrayMetadata>(name, "array");
}

bool Group::Rename(const std::string& name) {
  return guarded(false, [&] {
    check_is_container();
    if (node_path_.empty()) throw Error("the root of a store has no name that can be changed");
    session_->rename_node(node_path_, name);
  });
}
#endif

void Group::set_node_path(const std::string& node_path) {
  node_path_ = node_path;
#if GDAL_ZARR_AT_LEAST(3, 8)
  m_osName = last_segment(node_path);
  m_osFullName = '/' + join_path(session_->nczarr_path(), node_path);
  update_attributes_name();
#endif
}

// Attributes.

std::string Group::attributes_name() const {
  // GDAL's name for where the attributes of a group are.
  return '/' + join_path(node_path_, "_GLOBAL_");
}

std::shared_ptr<AttributeOwner> Group::owner() const {
  if (!session_->is_writable() || is_deleted() || session_->root_is_array()) return nullptr;
  return std::const_pointer_cast<Group>(shared_from_this());
}

// Includes changes by other programs.
std::shared_ptr<const Json> Group::current_attributes() const {
  session_->hierarchy().refresh_node(node_path_);
  return session_->attributes(node_path_);
}

// If the root is an array, the attributes belong to the array, not to the group around it.
std::shared_ptr<const Json> Group::visible_attributes(bool show_all) const {
  if (session_->root_is_array()) return std::make_shared<const Json>(Json::object());
  const auto all = current_attributes();
  return std::make_shared<const Json>(show_all ? without_nczarr(*all) : shown_attributes(*all));
}

std::shared_ptr<const Json> Group::find_visible(const std::string& name) const {
  if (session_->root_is_array() || is_nczarr_name(name)) return nullptr;
  const auto all = current_attributes();
  return {all, zarrcore::find_member(*all, name)};
}

bool Group::has_attribute(const std::string& name) const {
  return current_attributes()->contains(name);
}

void Group::change_attributes(const std::function<void(Json& attributes)>& edit) {
  check_is_container();
  session_->change_attributes(node_path_, edit);
}

}  // namespace gdal_zarr
