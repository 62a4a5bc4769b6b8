#include "driver/commands/examined.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "driver/gdal/messages.h"
#include "driver/gdal/worker_scope.h"
#include "driver/multidim/stored_nodes.h"
#include "driver/stores/connection_string.h"
#include "driver/stores/icechunk/open_icechunk.h"
#include "driver/stores/open_store.h"
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

std::unique_ptr<zarrcore::Hierarchy> open_examined(const std::string& path) {
  zarrcore::HierarchyOptions options = options_for(path);
  options.use_consolidated = false;
  options.on_problem = [](const std::string& /*problem*/) {};  // these become findings
  return open_hierarchy(path, false, options);
}

std::unique_ptr<zarrcore::Hierarchy> open_changed(const std::string& path) {
  zarrcore::HierarchyOptions options = options_for(path);
  options.is_writable = true;
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

zarrcore::ExaminedStore examine(const zarrcore::Hierarchy& hierarchy, bool reads_chunks,
                                const CommandProgress& progress) {
  CallerState caller;
  progress(0);
  zarrcore::ExamineOptions options;
  options.reads_chunks = reads_chunks;
  options.temporary_names = {kUnfinishedCopy, kReplacedArray};
  options.read.threads = thread_count();
  options.read.worker_scope = caller.scope();
  options.run_together = run_on(shared_context());
  // How many values there are is not known before the last.
  options.progress = [&](std::uint64_t values) {
    return progress(1 - 1 / (1 + static_cast<double>(values) * 1e-5));
  };
  zarrcore::ExaminedStore examined = zarrcore::examine_store(hierarchy, shared_context(), options);
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

std::vector<std::string> abandoned_files(const zarrcore::Store& store,
                                         const zarrcore::ExaminedStore& examined, bool removes) {
  std::vector<std::string> found;
  for (const std::string& key : examined.temporary_files) {
    if (zarrcore::is_abandoned_file(join_vsi_path(store.description(), key), removes)) {
      found.push_back(key);
    }
  }
  std::ranges::sort(found);
  return found;
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
