#include "driver/multidim/session.h"

#include <cpl_conv.h>

#include "driver/conventions/axis.h"
#include "driver/multidim/array.h"
#include "driver/multidim/dimension.h"
#include "driver/multidim/group.h"
#include "driver/vsi_store.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {
namespace {

// Threads and caches are bounded for the process, not for each dataset.
std::shared_ptr<zarrcore::Context> shared_context() {
  static std::mutex mutex;
  static std::weak_ptr<zarrcore::Context> current;
  const std::lock_guard lock(mutex);
  auto context = current.lock();
  if (!context) {
    context = std::make_shared<zarrcore::Context>();
    current = context;
  }
  return context;
}

// The live object under `key`, or the one that `make` gives.
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

}  // namespace

std::shared_ptr<Session> Session::open(const std::string& path, const SessionOptions& options) {
  const std::shared_ptr<Session> session(new Session());
  session->path_ = path;
  session->context_ = shared_context();
  zarrcore::HierarchyOptions hierarchy_options;
  hierarchy_options.use_consolidated = options.use_consolidated;
  hierarchy_options.on_problem = [path](const std::string& problem) {
    CPLError(CE_Warning, CPLE_AppDefined, "Zarr: %s: %s", path.c_str(), problem.c_str());
  };
  session->hierarchy_ =
      std::make_unique<zarrcore::Hierarchy>(make_store(path), std::move(hierarchy_options));
  if (std::holds_alternative<zarrcore::ArrayMetadata>(*session->hierarchy_->node(""))) {
    session->root_array_name_ = CPLGetBasename(path.c_str());
    if (session->root_array_name_.empty()) session->root_array_name_ = "array";
  }
  return session;
}

std::string Session::full_name(const std::string& node_path) const {
  return '/' + (root_is_array() && node_path.empty() ? root_array_name_ : node_path);
}

std::string Session::node_path(const std::string& full_name) const {
  std::string path = zarrcore::normalize_path(full_name);
  return root_is_array() && path == root_array_name_ ? std::string() : path;
}

std::shared_ptr<Group> Session::root_group() {
  return group("");
}

std::shared_ptr<Group> Session::group(const std::string& node_path) {
  return find_or_make(mutex_, groups_, node_path, [&] {
    const auto metadata = hierarchy_->node(node_path);
    const bool is_group = metadata && std::holds_alternative<zarrcore::GroupMetadata>(*metadata);
    if (!is_group && !(node_path.empty() && root_is_array())) {
      throw zarrcore::Error(path_ + ": there is no group /" + node_path);
    }
    return Group::create(shared_from_this(), node_path);
  });
}

std::shared_ptr<Array> Session::array(const std::string& node_path) {
  return find_or_make(mutex_, arrays_, node_path, [&] {
    return Array::create(shared_from_this(), hierarchy_->open_array(node_path, context_));
  });
}

std::shared_ptr<Dimension> Session::dimension(const std::string& array_path,
                                              const std::string& name, std::uint64_t size) {
  std::string group(zarrcore::parent_path(array_path));
  std::string variable;
  if (zarrcore::is_valid_segment(name) && !root_is_array()) {
    for (std::string candidate = group;;) {
      std::shared_ptr<const zarrcore::NodeMetadata> holder;
      const std::string path = zarrcore::join_path(candidate, name);
      const auto* metadata = array_metadata(path, holder);
      if (metadata != nullptr && metadata->shape == zarrcore::Shape{size}) {
        group = candidate;
        variable = path;
        break;
      }
      if (candidate.empty()) break;
      candidate = zarrcore::parent_path(candidate);
    }
  }
  return find_or_make(mutex_, dimensions_, std::tuple(group, name, size), [&] {
    const AxisRole role =
        find_axis_role(name, variable.empty() ? zarrcore::Json::object() : attributes(variable));
    return std::make_shared<Dimension>(shared_from_this(), '/' + group, name, role, size, variable);
  });
}

zarrcore::Json Session::attributes(const std::string& node_path) const {
  const auto metadata = hierarchy_->node(node_path);
  if (!metadata) return zarrcore::Json::object();
  return std::visit([](const auto& node) { return node.attributes; }, *metadata);
}

const zarrcore::ArrayMetadata* Session::array_metadata(
    const std::string& node_path, std::shared_ptr<const zarrcore::NodeMetadata>& holder) const {
  try {
    holder = hierarchy_->node(node_path);
  } catch (const zarrcore::Error&) {
    return nullptr;  // whoever opens that array gets the error
  }
  return holder ? std::get_if<zarrcore::ArrayMetadata>(holder.get()) : nullptr;
}

}  // namespace gdal_zarr
