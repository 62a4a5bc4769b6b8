#include "driver/multidim/dimension.h"

#include "driver/error_guard.h"
#include "driver/multidim/array.h"

namespace gdal_zarr {

std::shared_ptr<GDALMDArray> Dimension::GetIndexingVariable() const {
  if (variable_path_.empty()) return nullptr;
  return guarded<std::shared_ptr<GDALMDArray>>(nullptr,
                                               [&] { return session_->array(variable_path_); });
}

}  // namespace gdal_zarr
