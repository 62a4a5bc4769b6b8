// What a session does for those who write.
#include <cpl_conv.h>

#include <algorithm>
#include <exception>

#include "driver/gdal/config_options.h"
#include "driver/gdal/error_guard.h"
#include "driver/multidim/array.h"
#include "driver/multidim/dimension.h"
#include "driver/multidim/group.h"
#include "driver/multidim/session.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/metadata/v2.h"
#include "zarrcore/metadata/v3.h"

namespace gdal_zarr {

using zarrcore::Error;

Session::~Session() {
  guarded(false, [this] {
    if (is_writable_ && hierarchy_) flush();
    return true;
  });
}

zarrcore::Hierarchy& Session::changing_hierarchy() {
  if (!is_writable_) throw Error(path_ + " was opened for reading only");
  return *hierarchy_;
}

const zarrcore::Format& Session::new_array_format() const {
  const zarrcore::Format& format = hierarchy_->format();
  if (format.new_array_rules() != nullptr) return format;
  throw Error(path_ + ": nothing new is made in the format " + std::string(format.name()));
}

std::shared_ptr<Group> Session::create_group(const std::string& node_path) {
  changing_hierarchy().create_node(node_path, zarrcore::GroupMetadata{});
  {
    const std::lock_guard lock(mutex_);
    created_nodes_.push_back(node_path);
  }
  return group(node_path);
}

std::shared_ptr<Array> Session::create_array(const std::string& node_path,
                                             zarrcore::ArrayMetadata metadata) {
  zarrcore::Hierarchy& hierarchy = changing_hierarchy();
  metadata.chunk_prefix = node_path;
  hierarchy.create_node(node_path, std::move(metadata));
  try {
    auto created = array(node_path);
    created->set_new();
    const std::lock_guard lock(mutex_);
    created_nodes_.push_back(node_path);
    return created;
  } catch (const Error&) {
    hierarchy.erase_node(node_path);
    throw;
  }
}

void Session::erase_created_nodes() {
  std::vector<std::string> created;
  {
    const std::lock_guard lock(mutex_);
    created.swap(created_nodes_);
  }
  for (const std::string& path : created) {
    if (hierarchy_->node(path)) erase_node(path);
  }
}

void Session::change_attributes(const std::string& node_path,
                                const std::function<void(zarrcore::Json& attributes)>& edit) {
  changing_hierarchy().update_node(node_path, [&](zarrcore::NodeMetadata& metadata) {
    std::visit([&](auto& node) { edit(node.attributes); }, metadata);
  });
  const std::lock_guard lock(mutex_);
  multiscales_.erase(node_path);
}

void Session::erase_node(const std::string& node_path) {
  changing_hierarchy().erase_node(node_path);
  forget_objects(node_path);
}

void Session::rename_node(const std::string& node_path, const std::string& name) {
  visit_live_arrays([&](Array& array) {
    if (array.node_path() == node_path || zarrcore::key_below(node_path, array.node_path())) {
      array.flush();
    }
  });
  changing_hierarchy().rename_node(node_path, name);
  forget_objects(node_path);
}

void Session::adopt_group(const std::string& node_path, const std::shared_ptr<Group>& group) {
  const std::lock_guard lock(mutex_);
  groups_[node_path] = group;
}

void Session::adopt_array(const std::string& node_path, const std::shared_ptr<Array>& array) {
  const std::lock_guard lock(mutex_);
  arrays_[node_path] = array;
}

std::shared_ptr<const zarrcore::Array> Session::reopen_array(const std::string& node_path) {
  return hierarchy_->open_array(node_path, context_);
}

// Arrays that are alive, without a lock held while they are visited.
template <typename Visit>
void Session::visit_live_arrays(const Visit& visit) {
  std::vector<std::shared_ptr<Array>> live;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [path, array] : arrays_) {
      if (auto object = array.lock()) live.push_back(std::move(object));
    }
  }
  for (const auto& array : live) visit(*array);
}

void Session::forget_objects(const std::string& node_path) {
  const auto is_gone = [&](const auto& item) {
    return item.first == node_path || zarrcore::key_below(node_path, item.first).has_value();
  };
  std::vector<std::shared_ptr<Array>> arrays;
  std::vector<std::shared_ptr<Group>> groups;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& item : arrays_) {
      if (auto array = is_gone(item) ? item.second.lock() : nullptr) {
        arrays.push_back(std::move(array));
      }
    }
    for (const auto& item : groups_) {
      if (auto group = is_gone(item) ? item.second.lock() : nullptr) {
        groups.push_back(std::move(group));
      }
    }
    std::erase_if(arrays_, is_gone);
    std::erase_if(groups_, is_gone);
    std::erase_if(created_dimensions_, is_gone);
    multiscales_.clear();
  }
  for (const auto& array : arrays) array->set_gone();
  for (const auto& group : groups) group->set_gone();
}

void Session::flush() {
  std::exception_ptr first_error;
  const auto attempt = [&](const auto& action) {
    try {
      action();
    } catch (const Error&) {
      if (!first_error) first_error = std::current_exception();
    }
  };
  visit_live_arrays([&](Array& array) { attempt([&] { array.flush(); }); });
  attempt([&] { hierarchy_->flush(); });
  if (first_error) std::rethrow_exception(first_error);
}

void Session::refresh() noexcept {
  guarded(false, [this] {
    visit_live_arrays([](Array& array) { array.core().refresh(); });
    return true;
  });
}

zarrcore::WriterOptions Session::writer_options() const {
  constexpr GIntBig kLeast = 1 << 20;
  zarrcore::WriterOptions options;
  if (const char* text = config_option(ConfigOption::write_cache_size)) {
    options.max_bytes = static_cast<std::uint64_t>(std::max(kLeast, CPLAtoGIntBig(text)));
  }
  options.locks = locks_;
  return options;
}

void Session::limit_waiting(const Array& current) {
  // Looking at all arrays is not for every little write.
  constexpr unsigned kInterval = 64;
  const std::uint64_t own = current.waiting_bytes();
  if (++writes_ % kInterval != 0 && own <= writer_options().max_bytes / 2) return;
  std::uint64_t bytes = 0;
  visit_live_arrays([&](Array& array) { bytes += array.waiting_bytes(); });
  if (bytes <= writer_options().max_bytes) return;
  visit_live_arrays([&](Array& array) {
    if (&array != &current) array.flush();
  });
}

std::shared_ptr<Dimension> Session::create_dimension(const std::string& group,
                                                     const std::string& name, const AxisRole& role,
                                                     std::uint64_t size) {
  changing_hierarchy();
  if (!zarrcore::is_valid_segment(name)) {
    throw Error("a dimension cannot be named \"" + name + '"');
  }
  {
    const std::lock_guard lock(mutex_);
    auto& created = created_dimensions_[group];
    if (std::any_of(created.begin(), created.end(),
                    [&](const CreatedDimension& other) { return other.name == name; })) {
      throw Error("group /" + group + " has a dimension " + name + " already");
    }
    created.push_back({name, role, size});
    dimensions_.erase(std::tuple(group, name, size));
  }
  return dimension_of_group(group, name, size);
}

std::vector<std::shared_ptr<Dimension>> Session::created_dimensions(const std::string& group) {
  std::vector<CreatedDimension> created;
  {
    const std::lock_guard lock(mutex_);
    if (const auto it = created_dimensions_.find(group); it != created_dimensions_.end()) {
      created = it->second;
    }
  }
  std::vector<std::shared_ptr<Dimension>> dimensions;
  dimensions.reserve(created.size());
  for (const CreatedDimension& one : created) {
    dimensions.push_back(dimension_of_group(group, one.name, one.size));
  }
  return dimensions;
}

std::optional<Session::CreatedDimension> Session::find_created(const std::string& group,
                                                               const std::string& name,
                                                               std::uint64_t size) const {
  const std::lock_guard lock(mutex_);
  const auto it = created_dimensions_.find(group);
  if (it == created_dimensions_.end()) return std::nullopt;
  const auto found = std::find_if(
      it->second.begin(), it->second.end(),
      [&](const CreatedDimension& one) { return one.name == name && one.size == size; });
  return found == it->second.end() ? std::nullopt : std::optional(*found);
}

#if GDAL_ZARR_AT_LEAST(3, 7)
void Session::resize(const Array& array, const zarrcore::Shape& shape) {
  changing_hierarchy();
  const auto& dimensions = array.GetDimensions();
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
  // All that have one of the dimensions, the array itself at least.
  std::map<std::string, zarrcore::Shape> shapes{{array.node_path(), shape}};
  std::vector<std::shared_ptr<Array>> arrays{this->array(array.node_path())};
  for (const auto& [dimension, size] : sizes) {
    std::vector<std::shared_ptr<Array>> below;
    find_arrays_below(dimension->group(), below);
    for (const auto& other : below) {
      for (std::size_t i = 0; i < other->GetDimensions().size(); ++i) {
        if (other->GetDimensions()[i] != dimension) continue;
        const auto [it, is_new] = shapes.emplace(other->node_path(), other->core().shape());
        it->second[i] = size;
        if (is_new) arrays.push_back(other);
      }
    }
  }
  for (const auto& other : arrays) other->set_shape(shapes[other->node_path()]);
  for (const auto& [dimension, size] : sizes) set_dimension_size(*dimension, size);
  for (const auto& other : arrays) other->forget_dimensions();
}

void Session::find_arrays_below(const std::string& group,
                                std::vector<std::shared_ptr<Array>>& found) {
  for (const zarrcore::Child& child : hierarchy_->children(group)) {
    const std::string path = zarrcore::join_path(group, child.name);
    if (child.kind == zarrcore::Child::Kind::array) found.push_back(array(path));
    if (child.kind == zarrcore::Child::Kind::group) find_arrays_below(path, found);
  }
}

void Session::set_dimension_size(Dimension& dimension, std::uint64_t size) {
  const std::lock_guard lock(mutex_);
  auto node =
      dimensions_.extract(std::tuple(dimension.group(), dimension.GetName(), dimension.GetSize()));
  for (CreatedDimension& created : created_dimensions_[dimension.group()]) {
    if (created.name == dimension.GetName()) created.size = size;
  }
  dimension.set_size(size);
  if (!node) return;
  node.key() = std::tuple(dimension.group(), dimension.GetName(), size);
  dimensions_.erase(node.key());
  dimensions_.insert(std::move(node));
}
#endif

}  // namespace gdal_zarr
