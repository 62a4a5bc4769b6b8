#include "driver/multidim/coordinate_arrays.h"

#include "driver/gdal/messages.h"
#include "driver/multidim/session.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {

std::shared_ptr<const zarrcore::ArrayMetadata> CoordinateArrays::metadata(
    const std::string& node_path) const {
  try {
    return zarrcore::as_array(session_.hierarchy().node(node_path, zarrcore::NodeKind::array));
  } catch (const zarrcore::Error& error) {
    warn_unreadable(node_path, error.what());
    return nullptr;
  }
}

void CoordinateArrays::warn_unreadable(const std::string& node_path, const char* problem) const {
  {
    const std::lock_guard lock(mutex_);
    if (!unreadable_.insert(node_path).second) return;
  }
  report(
      CE_Warning, CPLE_AppDefined,
      "Zarr: %s: array %s cannot be read, so the arrays that it holds coordinates for have none: "
      "%s",
      session_.path().c_str(), session_.full_name(node_path).c_str(), problem);
}

bool CoordinateArrays::is_unreadable(const std::string& node_path) const {
  const std::lock_guard lock(mutex_);
  return unreadable_.contains(node_path);
}

}  // namespace gdal_zarr
