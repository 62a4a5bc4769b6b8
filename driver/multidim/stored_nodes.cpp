#include "driver/multidim/stored_nodes.h"

#include <variant>

#include "driver/gdal/messages.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {

std::string StoredNodes::full_name(const std::string& node_path) const {
  return '/' + (root_is_array() && node_path.empty() ? root_array_name_ : node_path);
}

std::string StoredNodes::node_path(const std::string& full_name) const {
  std::string path = zarrcore::normalize_path(full_name);
  return root_is_array() && path == root_array_name_ ? std::string() : path;
}

std::shared_ptr<const zarrcore::Json> StoredNodes::attributes(
    const std::string& node_path, std::optional<zarrcore::NodeKind> wanted) const {
  const auto metadata = hierarchy_->node(node_path, wanted);
  if (!metadata) return std::make_shared<const zarrcore::Json>(zarrcore::Json::object());
  return {metadata, std::visit([](const auto& node) { return &node.attributes; }, *metadata)};
}

std::shared_ptr<const zarrcore::ArrayMetadata> StoredNodes::array_metadata(
    const std::string& node_path) const {
  try {
    return zarrcore::as_array(hierarchy_->node(node_path, zarrcore::NodeKind::array));
  } catch (const zarrcore::Error&) {
    return nullptr;  // opening that array reports the error
  }
}

std::shared_ptr<const zarrcore::ArrayMetadata> StoredNodes::coordinate_metadata(
    const std::string& node_path) const {
  try {
    return zarrcore::as_array(hierarchy_->node(node_path, zarrcore::NodeKind::array));
  } catch (const zarrcore::Error& error) {
    warn_unreadable(node_path, error.what());
    return nullptr;
  }
}

bool StoredNodes::is_dimension_variable(const std::string& node_path) const {
  const auto array = array_metadata(node_path);
  return array && array->dimension_names.size() == 1 &&
         array->dimension_names.front() == zarrcore::last_segment(node_path);
}

void StoredNodes::warn_unreadable(const std::string& node_path, const char* problem) const {
  {
    const std::lock_guard lock(unreadable_mutex_);
    if (!unreadable_.insert(node_path).second) return;
  }
  report(
      CE_Warning, CPLE_AppDefined,
      "Zarr: %s: array %s cannot be read, so the arrays that it holds coordinates for have none: "
      "%s",
      path_.c_str(), full_name(node_path).c_str(), problem);
}

bool StoredNodes::is_unreadable(const std::string& node_path) const {
  const std::lock_guard lock(unreadable_mutex_);
  return unreadable_.contains(node_path);
}

}  // namespace gdal_zarr
