#include "driver/multidim/session.h"

#include <exception>
#include <utility>

#include "driver/conventions/gdal_attributes.h"
#include "driver/gdal/config_options.h"
#include "driver/gdal/messages.h"
#include "driver/gdal/worker_scope.h"
#include "driver/multidim/array.h"
#include "driver/multidim/group.h"
#include "driver/stores/open_store.h"
#include "driver/stores/vsi/vsi_path.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/store/local_files.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;
using zarrcore::WriterOptions;

zarrcore::HierarchyOptions hierarchy_options(const std::string& path, const SessionOptions& session,
                                             const std::shared_ptr<zarrcore::Context>& context) {
  zarrcore::HierarchyOptions options;
  options.run_together = run_on(context);
  options.use_consolidated = session.use_consolidated;
  options.is_writable = session.is_writable;
  options.long_double = session.long_double;
  options.merged_by_element = {kBandsAttribute, kColorInterpretation};
  options.on_problem = [path](const std::string& problem) {
    report(CE_Warning, CPLE_AppDefined, "Zarr: %s: %s", path.c_str(), problem.c_str());
  };
  return options;
}

void check_is_writable(const zarrcore::Store& store, const zarrcore::Format& format) {
  std::string_view why = store.traits().read_only_reason;
  if (why.empty()) why = format.read_only_reason();
  if (!why.empty()) throw Error(store.description() + " cannot be written: " + std::string(why));
}

}  // namespace

Session::Session(std::string path, SessionOptions options)
    : StoredNodes(std::move(path)),
      keeps_to_calling_thread_(has_foreign_file_system(path_)),
      options_(std::move(options)),
      context_(shared_context()),
      pam_values_(std::make_shared<PamValues>(path_ + "/pam")),
      pam_(make_pam(path_ + "/pam", pam_values_)) {
  if (!options_.lock_folder.empty()) {
    locks_ = std::make_shared<const zarrcore::FileLocks>(
        zarrcore::path_of_utf8(options_.lock_folder), lock_timeout());
  }
}

std::shared_ptr<Session> Session::open(const std::string& path, const SessionOptions& options,
                                       const StoreHints& hints) {
  const std::shared_ptr<Session> session(new Session(path, options));
  auto of_hierarchy = hierarchy_options(path, options, session->context_);
  of_hierarchy.expected_array = hints.array;
  auto hierarchy = options.is_writable && has_icechunk_prefix(path)
                       ? session->begin_changes(std::move(of_hierarchy))
                       : open_hierarchy(path, options.list_chunks, of_hierarchy, hints.folder);
  if (options.is_writable) check_is_writable(*hierarchy->store(), hierarchy->format());
  session->is_archive_ = options.is_writable && is_in_archive(hierarchy->store()->description());
  if (!hierarchy->has("", zarrcore::NodeKind::group)) session->root_array_name_ = store_name(path);
  session->hierarchy_ = std::move(hierarchy);
  return session;
}

std::shared_ptr<Session> Session::create(const std::string& path, const zarrcore::Format& format,
                                         const SessionOptions& options,
                                         std::shared_ptr<zarrcore::Store> store) {
  SessionOptions writable = options;
  writable.is_writable = true;
  const std::shared_ptr<Session> session(new Session(path, writable));
  session->is_archive_ = parse_zip_target(path).has_value();
  if (!store) store = make_new_store(path);
  check_is_writable(*store, format);
  session->hierarchy_ =
      zarrcore::Hierarchy::create(std::move(store), format, zarrcore::GroupMetadata{},
                                  hierarchy_options(path, writable, session->context_));
  return session;
}

// Before the first commit, a repository has no root group.
std::unique_ptr<zarrcore::Hierarchy> Session::begin_changes(zarrcore::HierarchyOptions options) {
  if (locks_) {
    throw Error(path_ + ": the open option LOCKS is not for Icechunk repositories");
  }
  const IcechunkPath path = parse_icechunk_path(path_);
  icechunk_ = std::make_unique<IcechunkWriter>(path, options_.icechunk);
  const auto& store = icechunk_->store();
  options.use_consolidated = false;
  const bool creates = options_.icechunk.new_format.has_value();
  if (creates ? !store->has("zarr.json") : path.key.empty() && !store->has_prefix("")) {
    auto hierarchy = zarrcore::Hierarchy::create(store, zarrcore::v3_format(),
                                                 zarrcore::GroupMetadata{}, std::move(options));
    if (!creates) icechunk_->ignore_root();
    return hierarchy;
  }
  return std::make_unique<zarrcore::Hierarchy>(store, std::move(options));
}

void Session::run_with_summary(const std::function<void(const std::string& summary)>& action) {
  if (!icechunk_) return;
  const std::string before = icechunk_->store()->snapshot_id();
  std::unique_lock changes(mutex_);
  const std::vector<std::string> created = created_nodes_;
  const std::vector<std::string> erased = erased_nodes_;
  changes.unlock();
  // Coordinates come with their arrays.
  action(describe_changes(created, erased,
                          [this](const std::string& path) { return is_dimension_variable(path); }));
  if (icechunk_->store()->snapshot_id() == before) return;
  const std::lock_guard lock(mutex_);
  created_nodes_.clear();
  erased_nodes_.clear();
}

void Session::commit_flushed() {
  run_with_summary([this](const std::string& summary) { icechunk_->end_flush(summary); });
}

void Session::commit_copy(const std::string& what) {
  run_with_summary(
      [&](const std::string& summary) { icechunk_->end_copy(what.empty() ? summary : what); });
}

void Session::end_changes() {
  if (has_lost_data_) set_failed();
  run_with_summary([this](const std::string& summary) { icechunk_->end(summary); });
}

const char* Session::icechunk_changes() {
  if (!icechunk_) return nullptr;
  icechunk_changes_ = icechunk_->changes();
  return icechunk_changes_.c_str();
}

void Session::run_icechunk_command(const std::string& command, const std::string& value) {
  if (!icechunk_) {
    throw Error(path_ + " is not an Icechunk repository that is open for update");
  }
  flush();
  run_with_summary([&](const std::string& summary) { icechunk_->run(command, value, summary); });
  refresh();
}

Session::~Session() {
  guarded(false, [this] {
    take_write_failure();  // it has been reported
    if (is_writable() && hierarchy_) {
      flush();
      end_changes();
    }
  });
  if (read_reports_) {
    read_reports_->report_sum(path_, hierarchy_ ? hierarchy_->store().get() : nullptr);
  }
}

ReferenceTarget* Session::reference_target() const {
  if (icechunk_) return options_.icechunk.is_virtual ? icechunk_.get() : nullptr;
  return dynamic_cast<ReferenceTarget*>(hierarchy_->store().get());
}

zarrcore::Hierarchy& Session::writable_hierarchy() {
  if (!is_writable()) throw Error(path_ + " was opened for reading only");
  return *hierarchy_;
}

const zarrcore::Format& Session::new_array_format() const {
  const zarrcore::Format& format = hierarchy_->format();
  if (format.new_array_rules() != nullptr) return format;
  throw Error(path_ + ": new arrays cannot be written in the format " + std::string(format.name()));
}

void Session::run_together(const std::vector<std::function<void()>>& functions) const {
  run_on(context_)(functions.size(), hierarchy_->store()->traits().parallel_requests,
                   [&](std::size_t i) { functions[i](); });
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

std::shared_ptr<Array> Session::coordinate_array(const std::string& node_path) {
  try {
    return array(node_path);
  } catch (const Error& error) {
    warn_unreadable(node_path, error.what());
    return nullptr;
  }
}

std::vector<std::shared_ptr<Array>> Session::live_arrays() const {
  std::vector<std::shared_ptr<Array>> live;
  const std::lock_guard lock(mutex_);
  for (const auto& [path, array] : arrays_) {
    if (auto object = array.lock()) live.push_back(std::move(object));
  }
  return live;
}

std::vector<std::shared_ptr<Array>> Session::arrays_below(const std::string& group) {
  if (root_is_array()) return {array("")};
  std::vector<std::shared_ptr<Array>> arrays;
  for (const zarrcore::Child& child : hierarchy_->children(group)) {
    const std::string path = zarrcore::join_path(group, child.name);
    if (child.kind == zarrcore::Child::Kind::array) arrays.push_back(array(path));
    if (child.kind != zarrcore::Child::Kind::group) continue;
    for (auto& below : arrays_below(path)) arrays.push_back(std::move(below));
  }
  return arrays;
}

// It becomes the root of the store, under the name by which it was created while the session lives.
std::shared_ptr<Array> Session::create_single_array(const std::string& node_path,
                                                    const zarrcore::ArrayMetadata& metadata) {
  const zarrcore::Format& format = hierarchy_->format();
  if (root_is_array() || node_path.find('/') != std::string::npos) {
    throw Error(path_ + ": a store in the format " + std::string(format.name()) +
                " has a single array, in no group: " + node_path + " cannot be added");
  }
  hierarchy_ = zarrcore::Hierarchy::create(hierarchy_->store(), format, metadata,
                                           hierarchy_options(path_, options_, context_));
  root_array_name_ = node_path;
  auto created = array("");
  created->set_new();
  return created;
}

std::optional<GDALExtendedDataType> Session::find_compound(const zarrcore::Array& array) const {
  const std::lock_guard lock(mutex_);
  const auto found = compounds_.find(array.path());
  if (found == compounds_.end() || found->second.first != array.data_type()) return std::nullopt;
  return found->second.second;
}

void Session::set_compound(const zarrcore::Array& array, const GDALExtendedDataType& type) {
  const std::lock_guard lock(mutex_);
  compounds_.insert_or_assign(array.path(), std::pair(array.data_type(), type));
}

void Session::set_write_failure(const std::string& problem) {
  has_lost_data_ = true;
  const std::lock_guard lock(mutex_);
  if (write_failure_.empty()) write_failure_ = problem;
}

std::string Session::take_write_failure() {
  const std::lock_guard lock(mutex_);
  return std::exchange(write_failure_, {});
}

void Session::flush() {
  std::exception_ptr first_error;
  const auto attempt = [&](const auto& action) {
    try {
      action();
    } catch (const std::exception&) {
      if (!first_error) first_error = std::current_exception();
    }
  };
  for (const auto& array : live_arrays()) attempt([&] { array->flush(); });
  attempt([&] { hierarchy_->flush(); });
  attempt([&] {
    const std::string failure = take_write_failure();
    if (!failure.empty()) throw Error(failure);
  });
  // An incomplete store must not look complete.
  if (!first_error && !has_lost_data_) attempt([&] { hierarchy_->store()->flush(); });
  if (first_error) {
    set_failed();
    std::rethrow_exception(first_error);
  }
}

void Session::refresh() noexcept {
  guarded(false, [this] {
    hierarchy_->expect_changes();
    for (const auto& array : live_arrays()) array->core().refresh();
  });
}

// Consolidated metadata is one document, which is requested once.
void Session::refresh_nodes(const std::vector<std::string>& paths) const {
  std::vector<std::function<void()>> requests;
  requests.reserve(paths.size());
  for (const std::string& path : paths) {
    requests.emplace_back([this, &path] { hierarchy_->refresh_node(path); });
  }
  if (hierarchy_->is_consolidated()) {
    for (const auto& request : requests) request();
  } else {
    run_together(requests);
  }
}

bool Session::has_node(const std::string& node_path, zarrcore::NodeKind kind) const {
  if (hierarchy_->has(node_path, kind)) return true;
  if (!hierarchy_->store()->is_known_absent(node_path)) return false;
  hierarchy_->store()->refresh();
  return hierarchy_->has(node_path, kind);
}

WriterOptions Session::writer_options() const {
  WriterOptions options;
  options.max_bytes = write_cache_bytes().value_or(WriterOptions::kDefaultMaxBytes);
  options.locks = locks_;
  options.stores_empty_chunks = options_.stores_empty_chunks;
  options.writes_in_background = CPLTestBool(config_option(ConfigOption::write_behind));
  return options;
}

void Session::allow_read_ahead(zarrcore::ReadOptions& options) const {
  if (is_slow() && !path_test(path_, ConfigOption::share_connections)) return;
  gdal_zarr::allow_read_ahead(options);
}

zarrcore::ReadOptions Session::read_options(CallerState& caller) const {
  zarrcore::ReadOptions options;
  options.threads = thread_count();
  options.waits_for_others = !keeps_to_calling_thread_;
  options.worker_scope = caller.scope();
  return options;
}

zarrcore::WriteOptions Session::write_options(CallerState& caller) const {
  zarrcore::WriteOptions options;
  options.threads = thread_count();
  options.worker_scope = caller.scope();
  return options;
}

void Session::limit_pending_bytes(const Array& current) {
  // Adding up all arrays after every small write would be too slow.
  constexpr unsigned kInterval = 64;
  const std::uint64_t most = write_cache_bytes().value_or(WriterOptions::kDefaultMaxBytes);
  if (++writes_ % kInterval != 0 && current.pending_bytes() <= most / 2) return;
  const auto arrays = live_arrays();
  std::uint64_t bytes = 0;
  for (const auto& array : arrays) bytes += array->pending_bytes();
  if (bytes <= most) return;
  for (const auto& array : arrays) {
    if (array.get() != &current) array->flush();
  }
}

}  // namespace gdal_zarr
