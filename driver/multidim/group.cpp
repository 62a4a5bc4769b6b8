#include "driver/multidim/group.h"

#include <algorithm>

#include "driver/error_guard.h"
#include "driver/multidim/array.h"
#include "driver/multidim/attribute.h"
#include "driver/multidim/dimension.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {
namespace {

using zarrcore::join_path;
using zarrcore::last_segment;
using zarrcore::parent_path;

}  // namespace

Group::Group(std::shared_ptr<Session> session, std::string node_path, const std::string& parent,
             const std::string& name)
    : GDALGroup(parent, name), session_(std::move(session)), node_path_(std::move(node_path)) {}

std::shared_ptr<Group> Group::create(std::shared_ptr<Session> session, std::string node_path) {
  std::string parent;
  std::string name = "/";
  if (!node_path.empty()) {
    parent = '/' + std::string(parent_path(node_path));
    name = last_segment(node_path);
  }
  const std::shared_ptr<Group> group(
      new Group(std::move(session), std::move(node_path), parent, name));
#if GDAL_ZARR_AT_LEAST(3, 8)
  group->SetSelf(group);
#endif
  return group;
}

std::vector<std::string> Group::child_paths(bool arrays) const {
  std::vector<std::string> paths;
  if (session_->root_is_array()) {
    if (arrays) paths.emplace_back();
    return paths;
  }
  for (const zarrcore::Child& child : session_->hierarchy().children(node_path_)) {
    if ((child.kind != zarrcore::Child::Kind::group) == arrays) {
      paths.push_back(join_path(node_path_, child.name));
    }
  }
  return paths;
}

std::vector<std::string> Group::array_paths() const {
  return child_paths(true);
}

std::vector<std::string> Group::group_paths() const {
  return child_paths(false);
}

std::vector<std::string> Group::GetMDArrayNames(CSLConstList /*options*/) const {
  return guarded<std::vector<std::string>>({}, [&] {
    if (session_->root_is_array()) return std::vector{session_->root_array_name()};
    std::vector<std::string> names;
    for (const std::string& path : array_paths()) names.emplace_back(last_segment(path));
    return names;
  });
}

std::vector<std::string> Group::GetGroupNames(CSLConstList /*options*/) const {
  return guarded<std::vector<std::string>>({}, [&] {
    std::vector<std::string> names;
    for (const std::string& path : group_paths()) names.emplace_back(last_segment(path));
    return names;
  });
}

std::shared_ptr<GDALMDArray> Group::OpenMDArray(const std::string& name,
                                                CSLConstList /*options*/) const {
  return guarded<std::shared_ptr<GDALMDArray>>(nullptr, [&]() -> std::shared_ptr<GDALMDArray> {
    if (session_->root_is_array()) {
      if (name != session_->root_array_name()) return nullptr;
      return session_->array("");
    }
    const std::string path = zarrcore::normalize_path(join_path(node_path_, name));
    const auto metadata = session_->hierarchy().node(path);
    if (!metadata || !std::holds_alternative<zarrcore::ArrayMetadata>(*metadata)) return nullptr;
    return session_->array(path);
  });
}

std::shared_ptr<GDALGroup> Group::OpenGroup(const std::string& name,
                                            CSLConstList /*options*/) const {
  return guarded<std::shared_ptr<GDALGroup>>(nullptr, [&]() -> std::shared_ptr<GDALGroup> {
    const std::string path = zarrcore::normalize_path(join_path(node_path_, name));
    if (session_->root_is_array()) return nullptr;
    const auto metadata = session_->hierarchy().node(path);
    if (!metadata || !std::holds_alternative<zarrcore::GroupMetadata>(*metadata)) return nullptr;
    return session_->group(path);
  });
}

// The dimensions that arrays of this group use and that are not of a group above.
std::vector<std::shared_ptr<GDALDimension>> Group::GetDimensions(CSLConstList /*options*/) const {
  return guarded<std::vector<std::shared_ptr<GDALDimension>>>({}, [&] {
    std::vector<std::shared_ptr<GDALDimension>> dimensions;
    for (const std::string& path : array_paths()) {
      std::shared_ptr<const zarrcore::NodeMetadata> holder;
      const auto* metadata = session_->array_metadata(path, holder);
      if (metadata == nullptr) continue;
      for (std::size_t i = 0; i < metadata->shape.size(); ++i) {
        if (!metadata->dimension_names[i]) continue;
        auto dimension =
            session_->dimension(path, *metadata->dimension_names[i], metadata->shape[i]);
        const std::string own_prefix = GetFullName() == "/" ? "/" : GetFullName() + '/';
        if (dimension->GetFullName() == own_prefix + dimension->GetName() &&
            std::find(dimensions.begin(), dimensions.end(), dimension) == dimensions.end()) {
          dimensions.push_back(std::move(dimension));
        }
      }
    }
    return dimensions;
  });
}

std::shared_ptr<GDALAttribute> Group::GetAttribute(const std::string& name) const {
  return guarded<std::shared_ptr<GDALAttribute>>(nullptr, [&] {
    // The attributes of an array at the root are the array's, not those of the group around it.
    const zarrcore::Json attributes =
        session_->root_is_array() ? zarrcore::Json::object() : session_->attributes(node_path_);
    return find_attribute(GetFullName(), attributes, name);
  });
}

std::vector<std::shared_ptr<GDALAttribute>> Group::GetAttributes(CSLConstList /*options*/) const {
  return guarded<std::vector<std::shared_ptr<GDALAttribute>>>({}, [&] {
    const zarrcore::Json attributes =
        session_->root_is_array() ? zarrcore::Json::object() : session_->attributes(node_path_);
    return make_attributes(GetFullName(), attributes);
  });
}

}  // namespace gdal_zarr
