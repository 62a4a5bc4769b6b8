#include "driver/multidim/group.h"

#include <cpl_conv.h>
#include <cpl_string.h>

#include <set>

#include "driver/conventions/nczarr.h"
#include "driver/conventions/shown_attributes.h"
#include "driver/gdal/error_guard.h"
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
  const auto kind = arrays ? zarrcore::NodeKind::array : zarrcore::NodeKind::group;
  for (const std::string& name : session_->hierarchy().child_names(node_path_, kind)) {
    paths.push_back(join_path(node_path_, name));
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
    for (const std::string& path : array_paths()) {
      names.emplace_back(path.empty() ? "/" : last_segment(path));
    }
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
    if (!session_->hierarchy().has(path, zarrcore::NodeKind::array)) return nullptr;
    return session_->array(path);
  });
}

std::shared_ptr<GDALGroup> Group::OpenGroup(const std::string& name,
                                            CSLConstList /*options*/) const {
  return guarded<std::shared_ptr<GDALGroup>>(nullptr, [&]() -> std::shared_ptr<GDALGroup> {
    const std::string path = zarrcore::normalize_path(join_path(node_path_, name));
    if (session_->root_is_array()) return nullptr;
    if (!session_->hierarchy().has(path, zarrcore::NodeKind::group)) return nullptr;
    return session_->group(path);
  });
}

// The dimensions that the group defines, or that its arrays use and that are not of a group above.
std::vector<std::shared_ptr<GDALDimension>> Group::GetDimensions(CSLConstList /*options*/) const {
  return guarded<std::vector<std::shared_ptr<GDALDimension>>>({}, [&] {
    std::vector<std::shared_ptr<GDALDimension>> dimensions;
    const std::string own_prefix = GetFullName() == "/" ? "/" : GetFullName() + '/';
    std::set<const GDALDimension*> known;
    const auto add = [&](std::shared_ptr<GDALDimension> dimension) {
      if (dimension && dimension->GetFullName() == own_prefix + dimension->GetName() &&
          known.insert(dimension.get()).second) {
        dimensions.push_back(std::move(dimension));
      }
    };
    if (const auto node = session_->hierarchy().node(node_path_)) {
      if (const auto* group = std::get_if<zarrcore::GroupMetadata>(node.get())) {
        for (const auto& [name, size] : nczarr_group_dimensions(*group)) {
          add(session_->dimension_of_group(node_path_, name, size));
        }
      }
    }
    for (auto& created : session_->created_dimensions(node_path_)) add(std::move(created));
    for (const std::string& path : array_paths()) {
      std::shared_ptr<const zarrcore::NodeMetadata> holder;
      const auto* metadata = session_->array_metadata(path, holder);
      if (metadata == nullptr) continue;
      for (std::size_t i = 0; i < metadata->shape.size(); ++i) {
        add(session_->dimension(path, *metadata, i));
      }
    }
    return dimensions;
  });
}

// Those of an array at the root are the array's, not those of the group around it.
zarrcore::Json Group::attributes(bool show_all) const {
  if (session_->root_is_array()) return zarrcore::Json::object();
  const auto all = session_->attributes(node_path_);
  return show_all ? without_nczarr(*all) : shown_attributes(*all);
}

std::shared_ptr<GDALAttribute> Group::GetAttribute(const std::string& name) const {
  return guarded<std::shared_ptr<GDALAttribute>>(
      nullptr, [&] { return find_attribute(GetFullName(), attributes(true), name, owner()); });
}

std::vector<std::shared_ptr<GDALAttribute>> Group::GetAttributes(CSLConstList options) const {
  return guarded<std::vector<std::shared_ptr<GDALAttribute>>>({}, [&] {
    return make_attributes(GetFullName(),
                           attributes(CPLTestBool(CSLFetchNameValueDef(options, "SHOW_ALL", "NO"))),
                           owner());
  });
}

}  // namespace gdal_zarr
