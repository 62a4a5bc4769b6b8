#include "driver/multidim/session.h"

#include <algorithm>
#include <set>

#include "driver/conventions/nczarr.h"
#include "driver/gdal/messages.h"
#include "driver/gdal/worker_scope.h"
#include "driver/multidim/array.h"
#include "driver/multidim/dimension.h"
#include "driver/multidim/group.h"
#include "driver/stores/open_store.h"
#include "driver/stores/vsi/vsi_store.h"
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

zarrcore::HierarchyOptions hierarchy_options(const std::string& path, bool use_consolidated,
                                             bool is_writable) {
  zarrcore::HierarchyOptions options;
  options.use_consolidated = use_consolidated;
  options.is_writable = is_writable;
  options.on_problem = [path](const std::string& problem) {
    report(CE_Warning, CPLE_AppDefined, "Zarr: %s: %s", path.c_str(), problem.c_str());
  };
  return options;
}

void check_is_writable(const zarrcore::Store& store) {
  const std::string reason = store.read_only_reason();
  if (!reason.empty()) {
    throw zarrcore::Error(store.description() + " cannot be written: " + reason);
  }
}

const zarrcore::ArrayMetadata* as_array(const std::shared_ptr<const zarrcore::NodeMetadata>& node) {
  return node ? std::get_if<zarrcore::ArrayMetadata>(node.get()) : nullptr;
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
  session->pam_ = std::make_shared<GDALPamMultiDim>(path + "/pam");
  if (!options.lock_folder.empty()) {
    session->locks_ = std::make_shared<const zarrcore::FileLocks>(options.lock_folder);
  }
  session->hierarchy_ =
      open_hierarchy(path, options.list_chunks,
                     hierarchy_options(path, options.use_consolidated, options.is_writable));
  if (options.is_writable) check_is_writable(*session->hierarchy_->store());
  if (!session->hierarchy_->has("", zarrcore::NodeKind::group)) {
    session->root_array_name_ = store_name(path);
  }
  session->is_writable_ = options.is_writable;  // from now on there is something to flush
  return session;
}

std::shared_ptr<Session> Session::create(const std::string& path, const zarrcore::Format& format,
                                         bool is_consolidated) {
  const std::shared_ptr<Session> session(new Session());
  session->path_ = path;
  session->context_ = shared_context();
  session->pam_ = std::make_shared<GDALPamMultiDim>(path + "/pam");
  const auto store = make_store(path);
  check_is_writable(*store);
  session->hierarchy_ = zarrcore::Hierarchy::create(store, format, zarrcore::GroupMetadata{},
                                                    hierarchy_options(path, is_consolidated, true));
  session->is_writable_ = true;
  return session;
}

std::string Session::full_name(const std::string& node_path) const {
  return '/' + (root_is_array() && node_path.empty() ? root_array_name_ : node_path);
}

std::string Session::node_path(const std::string& full_name) const {
  std::string path = zarrcore::normalize_path(full_name);
  return root_is_array() && path == root_array_name_ ? std::string() : path;
}

void Session::reserve_chunk_cache(std::uint64_t bytes) {
  context_->chunks.reserve(zarrcore::Context::kDefaultChunkCacheBytes + bytes + bytes / 8);
}

std::shared_ptr<Group> Session::root_group() {
  return group("");
}

std::shared_ptr<Group> Session::group(const std::string& node_path) {
  return find_or_make(mutex_, groups_, node_path,
                      [&] { return Group::create(shared_from_this(), node_path); });
}

std::shared_ptr<Array> Session::array(const std::string& node_path) {
  return find_or_make(mutex_, arrays_, node_path, [&] {
    auto array = hierarchy_->open_array(node_path, context_);
    return zarrcore::with_context(
        [&] { return path_ + ": array " + full_name(node_path); },
        [&] { return Array::create(shared_from_this(), std::move(array)); });
  });
}

void Session::keep_compound(const zarrcore::Array& array, const GDALExtendedDataType& type) {
  const std::lock_guard lock(mutex_);
  compounds_.insert_or_assign(array.path(), CompoundOfCreator{array.data_type(), type});
}

std::optional<GDALExtendedDataType> Session::compound_of_creator(
    const zarrcore::Array& array) const {
  const std::lock_guard lock(mutex_);
  const auto found = compounds_.find(array.path());
  if (found == compounds_.end() || found->second.stored != array.data_type()) return std::nullopt;
  return found->second.type;
}

std::shared_ptr<Dimension> Session::dimension(const std::string& array_path,
                                              const zarrcore::ArrayMetadata& array,
                                              std::size_t axis) {
  const std::uint64_t size = array.shape[axis];
  if (const auto paths = nczarr_dimensions(array); !paths.empty() && !root_is_array()) {
    const std::string_view path = std::string_view(paths[axis]).substr(1);
    return dimension_of_group(std::string(zarrcore::parent_path(path)),
                              std::string(zarrcore::last_segment(path)), size);
  }
  std::string name = array.dimension_names[axis].value_or(std::string());
  if (name.empty()) {
    const auto pyramid = find_pyramid(array_path);
    if (!pyramid || pyramid->multiscales->axes.size() != array.shape.size()) return nullptr;
    name = pyramid->multiscales->axes[axis];
    if (name.empty()) return nullptr;
  }
  const std::string own_group(zarrcore::parent_path(array_path));
  if (zarrcore::is_valid_segment(name) && !root_is_array()) {
    for (std::string group = own_group;; group = zarrcore::parent_path(group)) {
      if (has_variable(group, name, size) || find_created(group, name, size)) {
        return dimension_of_group(group, name, size);
      }
      // What cannot be read may be the variable: one further up means another place.
      if (group.empty() || is_unreadable(zarrcore::join_path(group, name))) break;
    }
  }
  return dimension_of_group(own_group, name, size);
}

void Session::prefetch_variables(const std::string& array_path,
                                 const zarrcore::ArrayMetadata& array) const {
  if (root_is_array()) return;
  std::set<std::string> names;
  for (const auto& name : array.dimension_names) {
    if (name && zarrcore::is_valid_segment(*name)) names.insert(*name);
  }
  for (std::string group(zarrcore::parent_path(array_path)); !names.empty();
       group = zarrcore::parent_path(group)) {
    std::vector<std::string> paths;
    paths.reserve(names.size());
    for (const std::string& name : names) paths.push_back(zarrcore::join_path(group, name));
    CallerState caller;
    const bool is_slow =
        hierarchy_->prefetch(paths, zarrcore::NodeKind::array, context_->pool, caller.scope());
    if (!is_slow || group.empty()) return;
    std::erase_if(names, [&](const std::string& name) {
      std::shared_ptr<const zarrcore::NodeMetadata> holder;
      return array_metadata(zarrcore::join_path(group, name), holder) != nullptr;
    });
  }
}

std::shared_ptr<Dimension> Session::dimension_of_group(const std::string& group,
                                                       const std::string& name,
                                                       std::uint64_t size) {
  return find_or_make(mutex_, dimensions_, std::tuple(group, name, size), [&] {
    const auto created = find_created(group, name, size);
    const std::string variable = variable_path(group, name, size);
    const AxisRole role = created ? created->role
                                  : find_axis_role(name, variable.empty() ? zarrcore::Json::object()
                                                                          : *attributes(variable));
    return std::make_shared<Dimension>(shared_from_this(), group, name, role, size);
  });
}

std::string Session::variable_path(const std::string& group, const std::string& name,
                                   std::uint64_t size) const {
  return has_variable(group, name, size) ? zarrcore::join_path(group, name) : std::string();
}

bool Session::has_variable(const std::string& group, const std::string& name,
                           std::uint64_t size) const {
  if (root_is_array() || !zarrcore::is_valid_segment(name)) return false;
  std::shared_ptr<const zarrcore::NodeMetadata> holder;
  const auto* metadata = coordinate_metadata(zarrcore::join_path(group, name), holder);
  return metadata != nullptr && metadata->shape == zarrcore::Shape{size};
}

bool Session::is_unreadable(const std::string& node_path) const {
  const std::lock_guard lock(mutex_);
  return unreadable_coordinates_.contains(node_path);
}

void Session::warn_of_coordinates(const std::string& node_path, const char* problem) const {
  {
    const std::lock_guard lock(mutex_);
    if (!unreadable_coordinates_.insert(node_path).second) return;
  }
  report(CE_Warning, CPLE_AppDefined,
         "Zarr: %s: array %s cannot be read, and what it holds the coordinates of has none: %s",
         path_.c_str(), full_name(node_path).c_str(), problem);
}

std::shared_ptr<const Multiscales> Session::multiscales(const std::string& group) const {
  {
    const std::lock_guard lock(mutex_);
    if (const auto it = multiscales_.find(group); it != multiscales_.end()) return it->second;
  }
  std::shared_ptr<const Multiscales> found;
  if (auto parsed = parse_multiscales(*attributes(group, zarrcore::NodeKind::group))) {
    found = std::make_shared<const Multiscales>(std::move(*parsed));
  }
  const std::lock_guard lock(mutex_);
  return multiscales_.emplace(group, std::move(found)).first->second;
}

std::optional<PyramidLevel> Session::find_pyramid(const std::string& array_path) const {
  if (root_is_array()) return std::nullopt;
  for (std::string group(zarrcore::parent_path(array_path));;
       group = zarrcore::parent_path(group)) {
    if (const auto pyramid = multiscales(group)) {
      const std::string_view path =
          std::string_view(array_path).substr(group.empty() ? 0 : group.size() + 1);
      if (const auto level = pyramid->find_level(path)) {
        const std::string& asset = pyramid->levels[*level].asset;
        const std::size_t skipped = asset.empty() ? 0 : asset.size() + 1;
        return PyramidLevel{group, pyramid, *level,
                            std::string(path.substr(std::min(skipped, path.size())))};
      }
    }
    if (group.empty()) return std::nullopt;
  }
}

std::string Session::path_at_level(const PyramidLevel& pyramid, const std::string& array_path,
                                   std::size_t level) const {
  // Where one level is an array and another a group, the group holds it under the array's name.
  const std::string suffix =
      pyramid.suffix.empty() ? std::string(zarrcore::last_segment(array_path)) : pyramid.suffix;
  const std::string asset =
      zarrcore::join_path(pyramid.group, pyramid.multiscales->levels[level].asset);
  for (std::string path : {asset, zarrcore::join_path(asset, suffix)}) {
    std::shared_ptr<const zarrcore::NodeMetadata> holder;
    if (array_metadata(path, holder) != nullptr) return path;
  }
  return {};
}

std::vector<std::string> Session::overview_paths(const std::string& array_path) const {
  std::vector<std::string> paths;
  const auto pyramid = find_pyramid(array_path);
  if (!pyramid) return paths;
  for (std::size_t i = pyramid->level + 1; i < pyramid->multiscales->levels.size(); ++i) {
    std::string path = path_at_level(*pyramid, array_path, i);
    if (!path.empty()) paths.push_back(std::move(path));
  }
  return paths;
}

std::string Session::finest_level_path(const std::string& array_path) const {
  const auto pyramid = find_pyramid(array_path);
  if (!pyramid || pyramid->level == 0) return {};
  const std::string finest = path_at_level(*pyramid, array_path, 0);
  // Levels that contain each other can lead back to where they began.
  return finest == array_path ? std::string() : finest;
}

std::shared_ptr<const zarrcore::Json> Session::attributes(
    const std::string& node_path, std::optional<zarrcore::NodeKind> wanted) const {
  static const auto none = std::make_shared<const zarrcore::Json>(zarrcore::Json::object());
  const auto metadata = hierarchy_->node(node_path, wanted);
  if (!metadata) return none;
  return {metadata, std::visit([](const auto& node) { return &node.attributes; }, *metadata)};
}

const zarrcore::ArrayMetadata* Session::array_metadata(
    const std::string& node_path, std::shared_ptr<const zarrcore::NodeMetadata>& holder) const {
  try {
    holder = hierarchy_->node(node_path, zarrcore::NodeKind::array);
  } catch (const zarrcore::Error&) {
    return nullptr;  // whoever opens that array gets the error
  }
  return as_array(holder);
}

const zarrcore::ArrayMetadata* Session::coordinate_metadata(
    const std::string& node_path, std::shared_ptr<const zarrcore::NodeMetadata>& holder) const {
  try {
    holder = hierarchy_->node(node_path, zarrcore::NodeKind::array);
  } catch (const zarrcore::Error& error) {
    warn_of_coordinates(node_path, error.what());
    return nullptr;
  }
  return as_array(holder);
}

}  // namespace gdal_zarr
