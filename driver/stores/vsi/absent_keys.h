// Keys that a server has said to be absent, so that it is not asked again.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>

namespace gdal_zarr {

// Safe to use from several threads at once.
class AbsentKeys {
 public:
  bool contains(std::string_view key) const {
    const std::lock_guard lock(mutex_);
    return keys_.contains(std::string(key));
  }
  void add(std::string_view key) {
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

  mutable std::mutex mutex_;
  std::unordered_set<std::string> keys_;
};

}  // namespace gdal_zarr
