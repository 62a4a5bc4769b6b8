// A dimension whose coordinates follow from the geotransform of its array.
#pragma once

#include <gdal_priv.h>

#include <memory>
#include <mutex>

#include "driver/conventions/geotransform.h"

namespace gdal_zarr {

class RegularDimension final : public GDALDimension,
                               public std::enable_shared_from_this<RegularDimension> {
 public:
  // Like `dimension`, which has no indexing variable. To be owned by a shared pointer.
  RegularDimension(const GDALDimension& dimension, const RegularAxis& axis);

  // Computed, and in no store. The variable owns the dimension; it is made anew when nothing owns
  // the last one.
  std::shared_ptr<GDALMDArray> GetIndexingVariable() const override;

 private:
  RegularAxis axis_;
  mutable std::mutex mutex_;
  mutable std::weak_ptr<GDALMDArray> variable_;
};

}  // namespace gdal_zarr
