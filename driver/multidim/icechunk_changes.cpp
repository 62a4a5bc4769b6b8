// Changes of an Icechunk repository: a session that is one transaction.
#include <algorithm>
#include <utility>

#include "driver/multidim/session.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {

// A new repository has no root group yet.
std::unique_ptr<zarrcore::Hierarchy> Session::begin_changes(zarrcore::HierarchyOptions options) {
  if (locks_) {
    throw zarrcore::Error(path_ + ": the open option LOCKS is not for Icechunk repositories");
  }
  icechunk_ = std::make_unique<IcechunkWriter>(parse_icechunk_path(path_), options_.icechunk);
  const auto& store = icechunk_->store();
  options.use_consolidated = false;
  if (options_.icechunk.new_format && !store->has("zarr.json")) {
    return zarrcore::Hierarchy::create(store, zarrcore::v3_format(), zarrcore::GroupMetadata{},
                                       std::move(options));
  }
  return std::make_unique<zarrcore::Hierarchy>(store, std::move(options));
}

void Session::end_changes() {
  if (!icechunk_) return;
  if (has_lost_data_) icechunk_->set_failed();
  icechunk_->end(summary_of_changes());
}

const char* Session::icechunk_changes() {
  if (!icechunk_) return nullptr;
  icechunk_changes_ = icechunk_->store()->changes();
  return icechunk_changes_.c_str();
}

void Session::run_icechunk_command(const std::string& command, const std::string& value) {
  if (!icechunk_) {
    throw zarrcore::Error(path_ + " is not an Icechunk repository that is open for update");
  }
  flush();
  icechunk_->run(command, value, summary_of_changes());
  refresh();
}

std::string Session::summary_of_changes() const {
  constexpr std::size_t kMostNames = 5;
  const auto list = [&](const char* verb, const std::vector<std::string>& paths) {
    std::string text;
    std::size_t count = 0;
    for (const std::string& path : paths) {
      // Coordinates come with their arrays.
      if (paths.size() > 1 && is_dimension_variable(path)) continue;
      if (++count > kMostNames) return text + ", …";
      text += (text.empty() ? std::string(verb) + ' ' : ", ") + path;
    }
    return text;
  };
  std::vector<std::string> created;
  std::vector<std::string> erased;
  {
    const std::lock_guard lock(mutex_);
    for (const std::string& path : created_nodes_) {
      const auto contains = [&](const auto& node) { return zarrcore::is_at_or_below(path, node); };
      if (std::ranges::none_of(created, contains)) created.push_back(path);
    }
    for (const std::string& path : erased_nodes_) {
      if (std::ranges::find(created_nodes_, path) == created_nodes_.end()) erased.push_back(path);
    }
  }
  std::string text = list("create", created);
  const std::string of_erased = list("delete", erased);
  if (!text.empty() && !of_erased.empty()) text += ", ";
  text += of_erased;
  return text.empty() ? "update" : text;
}

}  // namespace gdal_zarr
