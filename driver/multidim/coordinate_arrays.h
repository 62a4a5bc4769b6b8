// Arrays that hold the coordinates of other arrays. When one of them cannot be read, the others
// stay readable without it: a warning, once for each array, says what they lose.
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "zarrcore/metadata/array_metadata.h"

namespace gdal_zarr {

class Session;

class CoordinateArrays {
 public:
  explicit CoordinateArrays(const Session& session) : session_(session) {}

  // The metadata of an array, or null when it does not exist, or, after a warning, when it cannot
  // be read.
  std::shared_ptr<const zarrcore::ArrayMetadata> metadata(const std::string& node_path) const;
  void warn_unreadable(const std::string& node_path, const char* problem) const;
  bool is_unreadable(const std::string& node_path) const;

 private:
  const Session& session_;
  mutable std::mutex mutex_;
  mutable std::set<std::string> unreadable_;  // node paths
};

}  // namespace gdal_zarr
