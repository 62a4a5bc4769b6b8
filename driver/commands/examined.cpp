#include "driver/commands/examined.h"

#include <cpl_vsi.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "driver/entry/create.h"
#include "driver/gdal/messages.h"
#include "driver/gdal/worker_scope.h"
#include "driver/multidim/stored_nodes.h"
#include "driver/stores/connection_string.h"
#include "driver/stores/icechunk/open_icechunk.h"
#include "driver/stores/open_store.h"
#include "driver/stores/vsi/vsi_file.h"
#include "driver/stores/vsi/vsi_path.h"
#include "zarrcore/base/error.h"
#include "zarrcore/store/local_files.h"

namespace gdal_zarr {
namespace {

zarrcore::HierarchyOptions options_for(const std::string& path) {
  zarrcore::HierarchyOptions options;
  options.run_together = run_on(shared_context());
  options.on_problem = [path](const std::string& problem) {
    report(CE_Warning, CPLE_AppDefined, "Zarr: %s: %s", path.c_str(), problem.c_str());
  };
  return options;
}

}  // namespace

std::string store_of(const Arguments& arguments) {
  const std::string name = arguments.text("store");
  const ConnectionString connection = parse_connection_string(name);
  if (connection.array) {
    throw zarrcore::Error(name + " is an array; commands take the name of a whole store");
  }
  return find_icechunk_path(connection.store_path, std::nullopt);
}

bool applies_changes(const Arguments& arguments) {
  const bool applies = arguments.has("apply");
  if (applies && arguments.has("dry-run")) {
    throw zarrcore::Error("--apply and --dry-run exclude each other");
  }
  return applies;
}

std::unique_ptr<zarrcore::Hierarchy> open_examined(const std::string& path,
                                                   const RootDocuments& root) {
  zarrcore::HierarchyOptions options = options_for(path);
  options.use_consolidated = false;
  options.root_documents = root;
  options.on_problem = [](const std::string& /*problem*/) {};  // these become findings
  return open_hierarchy(path, false, options);
}

std::unique_ptr<zarrcore::Hierarchy> open_changed(const std::string& path,
                                                  const RootDocuments& root) {
  zarrcore::HierarchyOptions options = options_for(path);
  options.is_writable = true;
  options.root_documents = root;
  auto hierarchy = open_hierarchy(path, false, options);
  std::string_view why = hierarchy->store()->traits().read_only_reason;
  if (why.empty()) why = hierarchy->format().read_only_reason();
  if (!why.empty()) throw zarrcore::Error(path + " cannot be written: " + std::string(why));
  return hierarchy;
}

void end_changes(zarrcore::Hierarchy& changed) {
  changed.flush();
  changed.store()->flush();
}

NewStore::NewStore(const std::string& name) : name_(parse_connection_string(name).store_path) {
  if (!is_icechunk_name(name_) && path_exists(name_))
    throw zarrcore::Error(name_ + " already exists");
  path_ = is_new_folder(name_) ? name_ + std::string(kUnfinishedCopy) : name_;
  if (path_ != name_ && path_exists(path_) && VSIRmdirRecursive(path_.c_str()) != 0) {
    throw zarrcore::Error(path_ + " cannot be removed");
  }
}

std::shared_ptr<zarrcore::Store> NewStore::open() const {
  if (is_icechunk_name(path_))
    throw zarrcore::Error(path_ + ": rechunk --into makes Icechunk repositories");
  check_can_be_created(path_, "choose another name");
  return make_new_store(path_);
}

void NewStore::complete() {
  if (path_ != name_ && VSIRename(path_.c_str(), name_.c_str()) != 0) {
    throw zarrcore::Error(path_ + " cannot be renamed to " + name_);
  }
}

void report_values(std::uint64_t values, double expected, const CommandProgress& progress) {
  const auto done = static_cast<double>(values);
  const double least = expected > done ? done / expected : 0;
  if (progress(std::max(least, 1 - 1 / (1 + done * 1e-5)))) return;
  throw zarrcore::Error("the command was stopped");
}

zarrcore::ExaminedStore examine(const zarrcore::Hierarchy& hierarchy, ExaminedParts parts,
                                const CommandProgress& progress) {
  CallerState caller;
  progress(0);
  zarrcore::ExamineOptions options;
  options.counts_bytes = parts == ExaminedParts::sizes;
  options.reads_chunks = parts == ExaminedParts::values;
  options.temporary_names = {kUnfinishedCopy, kReplacedArray};
  options.read.threads = thread_count();
  options.read.worker_scope = caller.scope();
  options.run_together = run_on(shared_context());
  options.progress = [&](std::uint64_t values, double expected) {
    report_values(values, expected, progress);
  };
  zarrcore::ExaminedStore examined = zarrcore::examine_store(hierarchy, shared_context(), options);
  std::erase_if(examined.temporary_files, [&](const std::string& key) {
    const std::string path = join_vsi_path(hierarchy.store()->description(), key);
    return !zarrcore::is_abandoned_file(path, false);
  });
  std::ranges::sort(examined.temporary_files);
  // What a running command changes is neither damaged nor left.
  const RechunkState rechunk = rechunk_state(hierarchy.store()->description());
  if (rechunk == RechunkState::running) {
    std::erase_if(examined.findings, [&](const zarrcore::Finding& finding) {
      return examined.leftovers.contains(finding.place);
    });
    examined.leftovers.clear();
  } else if (rechunk == RechunkState::interrupted) {
    examined.leftovers.emplace(kRechunkLock);
    examined.findings.push_back({zarrcore::Finding::Kind::leftover, std::string(kRechunkLock),
                                 "an interrupted rechunk has left this"});
  }
  return examined;
}

bool remove_abandoned_file(const zarrcore::Store& store, const std::string& key) {
  const std::string path = join_vsi_path(store.description(), key);
  return zarrcore::is_abandoned_file(path, true) || !zarrcore::is_occupied(path);
}

int CPL_STDCALL call_progress(double complete, const char* /*message*/, void* data) {
  return (*static_cast<const CommandProgress*>(data))(complete) ? TRUE : FALSE;
}

std::string format_bytes(std::optional<std::uint64_t> bytes) {
  if (!bytes) return "unknown";
  static constexpr std::array kUnits{"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
  auto value = static_cast<double>(*bytes);
  std::size_t unit = 0;
  while (value >= 1000 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.1f %s", value, kUnits[unit]);
  return text.data();
}

std::string last_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

std::string node_name(const std::string& path) {
  return '/' + path;
}

}  // namespace gdal_zarr
