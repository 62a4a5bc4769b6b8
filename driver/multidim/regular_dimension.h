// A dimension whose coordinates follow from the metadata of its array: from a geotransform, from
// the length of a step, or from coordinates in another unit.
#pragma once

#include <gdal_priv.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "driver/conventions/geotransform.h"
#include "zarrcore/base/json.h"

namespace gdal_zarr {

class RegularDimension final : public GDALDimension,
                               public std::enable_shared_from_this<RegularDimension> {
 public:
  // Like `dimension`, with other coordinates. To be owned by a shared pointer.
  RegularDimension(const GDALDimension& dimension, const RegularAxis& axis);
  // The coordinates are what `load` returns when they are first read; empty if they cannot be read.
  RegularDimension(const GDALDimension& dimension, std::function<std::vector<double>()> load,
                   zarrcore::Json attributes);

  // Computed, and in no store. The variable owns the dimension; it is made anew when nothing owns
  // the last one.
  std::shared_ptr<GDALMDArray> GetIndexingVariable() const override;

  // The attributes of the coordinates.
  const zarrcore::Json& attributes() const { return attributes_; }
  // The unit of the coordinates.
  void set_unit(const std::string& unit) { unit_ = unit; }
  // Whether the coordinates are distances from the first element, which do not place a raster.
  bool is_relative() const { return is_relative_; }
  void set_relative() { is_relative_ = true; }

 private:
  RegularAxis axis_{};
  std::function<std::vector<double>()> load_;
  zarrcore::Json attributes_ = zarrcore::Json::object();
  std::string unit_;
  bool is_relative_ = false;
  mutable std::mutex mutex_;
  mutable std::weak_ptr<GDALMDArray> variable_;
};

}  // namespace gdal_zarr
