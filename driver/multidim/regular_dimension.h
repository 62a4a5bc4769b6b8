// A dimension whose coordinates follow from the geotransform of its array.
#pragma once

#include <gdal_priv.h>

#include <memory>

#include "driver/conventions/geotransform.h"

namespace gdal_zarr {

class RegularDimension final : public GDALDimension {
 public:
  // Like `dimension`, which has no indexing variable.
  RegularDimension(const GDALDimension& dimension, const RegularAxis& axis);

  // Computed, and in no store.
  std::shared_ptr<GDALMDArray> GetIndexingVariable() const override { return variable_; }

 private:
  std::shared_ptr<GDALMDArray> variable_;  // of another object for the same dimension
};

}  // namespace gdal_zarr
