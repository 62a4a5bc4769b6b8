// Keys that a server has said to be absent, so that it is not asked again.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "zarrcore/base/path.h"
#include "zarrcore/metadata/document_names.h"
#include "zarrcore/store/request_statistics.h"

namespace gdal_zarr {

// Safe to use from several threads at once.
class AbsentKeys {
 public:
  // `statistics` may be null. Otherwise it counts the chunks among the keys.
  explicit AbsentKeys(std::shared_ptr<zarrcore::RequestStatistics> statistics)
      : statistics_(std::move(statistics)) {}

  bool contains(std::string_view key) const {
    const std::lock_guard lock(mutex_);
    return !keys_.empty() && keys_.contains(std::string(key));
  }
  // After a request for the key.
  void add(std::string_view key) {
    if (statistics_ && !zarrcore::is_document_name(zarrcore::last_segment(key))) {
      statistics_->count_missing_chunk();
    }
    const std::lock_guard lock(mutex_);
    if (keys_.size() >= kMaxKeys) keys_.clear();
    keys_.emplace(key);
  }
  void remove(std::string_view key) {
    const std::lock_guard lock(mutex_);
    keys_.erase(std::string(key));
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    keys_.clear();
  }

 private:
  static constexpr std::size_t kMaxKeys = 100'000;

  std::shared_ptr<zarrcore::RequestStatistics> statistics_;
  mutable std::mutex mutex_;
  std::unordered_set<std::string> keys_;
};

}  // namespace gdal_zarr
