// What a group does for those who write.
#include "driver/gdal/error_guard.h"
#include "driver/multidim/array.h"
#include "driver/multidim/dimension.h"
#include "driver/multidim/group.h"
#include "driver/new_array/creation_options.h"
#include "driver/new_array/new_array.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;
using zarrcore::Json;

// CF's letter for the type of a dimension, which its indexing variable tells.
const char* axis_letter(const std::string& type) {
  if (type == GDAL_DIM_TYPE_HORIZONTAL_X) return "X";
  if (type == GDAL_DIM_TYPE_HORIZONTAL_Y) return "Y";
  if (type == GDAL_DIM_TYPE_VERTICAL) return "Z";
  return type == GDAL_DIM_TYPE_TEMPORAL ? "T" : nullptr;
}

// What the indexing variable of a dimension has to say of it, beyond what its name says.
Json axis_attributes(const GDALDimension& dimension) {
  Json attributes = Json::object();
  const AxisRole known = find_axis_role(dimension.GetName(), attributes);
  const char* letter = axis_letter(dimension.GetType());
  if (letter != nullptr && known.type != dimension.GetType()) attributes["axis"] = letter;
  if (dimension.GetType() == GDAL_DIM_TYPE_VERTICAL) {
    if (dimension.GetDirection() == "UP") attributes["positive"] = "up";
    if (dimension.GetDirection() == "DOWN") attributes["positive"] = "down";
  }
  return attributes;
}

}  // namespace

void Group::check_is_there() const {
  if (is_gone_) throw Error("group " + GetFullName() + " was removed or renamed");
  if (session_->root_is_array()) {
    throw Error(session_->path() + " is an array by itself: there is no group that holds others");
  }
}

std::shared_ptr<AttributeOwner> Group::owner() const {
  if (!session_->is_writable() || is_gone_ || session_->root_is_array()) return nullptr;
  return std::const_pointer_cast<Group>(shared_from_this());
}

std::string Group::path_of(const std::string& name) const {
  if (!zarrcore::is_valid_segment(name)) throw Error("a node cannot be named \"" + name + '"');
  return zarrcore::join_path(node_path_, name);
}

std::shared_ptr<GDALGroup> Group::CreateGroup(const std::string& name, CSLConstList /*options*/) {
  return guarded<std::shared_ptr<GDALGroup>>(nullptr, [&] {
    check_is_there();
    return session_->create_group(path_of(name));
  });
}

std::shared_ptr<GDALDimension> Group::CreateDimension(const std::string& name,
                                                      const std::string& type,
                                                      const std::string& direction, GUInt64 size,
                                                      CSLConstList /*options*/) {
  return guarded<std::shared_ptr<GDALDimension>>(nullptr, [&] {
    check_is_there();
    return session_->create_dimension(node_path_, name, {type, direction}, size);
  });
}

std::shared_ptr<GDALMDArray> Group::CreateMDArray(
    const std::string& name, const std::vector<std::shared_ptr<GDALDimension>>& dimensions,
    const GDALExtendedDataType& type, CSLConstList options) {
  return guarded<std::shared_ptr<GDALMDArray>>(nullptr, [&] {
    check_is_there();
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
    zarrcore::ArrayMetadata metadata = make_array_metadata(array, options);
    if (dimensions.size() == 1 && dimensions[0]->GetName() == name) {
      metadata.attributes = axis_attributes(*dimensions[0]);
    }
    const auto created = session_->create_array(path_of(name), std::move(metadata));
    if (type.GetClass() == GEDTC_COMPOUND) {
      session_->keep_compound(created->core(), type);
      created->set_compound(type);
    }
    return created;
  });
}

void Group::set_attribute(const std::string& name, const Json& value) {
  check_is_there();
  session_->change_attributes(node_path_, [&](Json& attributes) { attributes[name] = value; });
}

void Group::erase_attribute(const std::string& name) {
  check_is_there();
  session_->change_attributes(node_path_, [&](Json& attributes) { attributes.erase(name); });
}

void Group::rename_attribute(const std::string& name, const std::string& new_name) {
  check_is_there();
  session_->change_attributes(node_path_, [&](Json& attributes) {
    attributes = with_renamed_attribute(attributes, name, new_name);
  });
}

std::shared_ptr<GDALAttribute> Group::CreateAttribute(const std::string& name,
                                                      const std::vector<GUInt64>& dimensions,
                                                      const GDALExtendedDataType& type,
                                                      CSLConstList /*options*/) {
  return guarded<std::shared_ptr<GDALAttribute>>(nullptr, [&] {
    check_is_there();
    return create_attribute(GetFullName(), *session_->attributes(node_path_), name, dimensions,
                            type, owner());
  });
}

#if GDAL_ZARR_AT_LEAST(3, 8)
template <typename Metadata>
bool Group::erase_child(const std::string& name, const char* kind) {
  return guarded(false, [&] {
    check_is_there();
    const auto node = session_->hierarchy().node(path_of(name));
    if (!node || !std::holds_alternative<Metadata>(*node)) {
      throw Error("group " + GetFullName() + " has no " + kind + ' ' + name);
    }
    session_->erase_node(path_of(name));
    return true;
  });
}

bool Group::DeleteGroup(const std::string& name, CSLConstList /*options*/) {
  return erase_child<zarrcore::GroupMetadata>(name, "group");
}

bool Group::DeleteMDArray(const std::string& name, CSLConstList /*options*/) {
  return erase_child<zarrcore::ArrayMetadata>(name, "array");
}

bool Group::DeleteAttribute(const std::string& name, CSLConstList /*options*/) {
  return guarded(false, [&] {
    if (!session_->attributes(node_path_)->contains(name)) {
      throw Error("group " + GetFullName() + " has no attribute " + name);
    }
    erase_attribute(name);
    return true;
  });
}

bool Group::Rename(const std::string& name) {
  return guarded(false, [&] {
    check_is_there();
    if (node_path_.empty()) throw Error("the root of a store has no name of its own");
    const auto self = shared_from_this();
    session_->rename_node(node_path_, name);
    node_path_ = zarrcore::join_path(zarrcore::parent_path(node_path_), name);
    is_gone_ = false;
    session_->adopt_group(node_path_, self);
    BaseRename(name);
    return true;
  });
}
#endif

}  // namespace gdal_zarr
