// The compound types that programs gave for arrays they created. Zarr stores neither the padding
// nor the alignment of a compound, so the layout lasts as long as the session.
#pragma once

#include <gdal_priv.h>

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "zarrcore/array/array.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {

class CompoundLayouts {
 public:
  void keep(const zarrcore::Array& array, const GDALExtendedDataType& type) {
    const std::lock_guard lock(mutex_);
    layouts_.insert_or_assign(array.path(), Layout{array.data_type(), type});
  }

  // The arrays at or below a node have other paths.
  void move(const std::string& node_path, const std::string& new_path) {
    const std::lock_guard lock(mutex_);
    std::map<std::string, Layout> moved;
    for (auto& [path, layout] : layouts_) {
      moved.insert_or_assign(zarrcore::moved_path(path, node_path, new_path), std::move(layout));
    }
    layouts_ = std::move(moved);
  }

  // Empty when none is known, or when another array is stored at that path by now.
  std::optional<GDALExtendedDataType> find(const zarrcore::Array& array) const {
    const std::lock_guard lock(mutex_);
    const auto found = layouts_.find(array.path());
    if (found == layouts_.end() || found->second.stored != array.data_type()) return std::nullopt;
    return found->second.type;
  }

 private:
  struct Layout {
    zarrcore::DataType stored;
    GDALExtendedDataType type;
  };

  mutable std::mutex mutex_;
  std::map<std::string, Layout> layouts_;  // by node path
};

}  // namespace gdal_zarr
