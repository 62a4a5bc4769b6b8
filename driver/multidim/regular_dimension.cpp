#include "driver/multidim/regular_dimension.h"

#include <string>

#include "driver/gdal/error_guard.h"

namespace gdal_zarr {
namespace {

// Of a group, or of none.
std::string parent_name(const GDALDimension& dimension) {
  const std::string& name = dimension.GetFullName();
  const auto slash = name.rfind('/');
  if (slash == std::string::npos) return {};
  return slash == 0 ? "/" : name.substr(0, slash);
}

}  // namespace

RegularDimension::RegularDimension(const GDALDimension& dimension, const RegularAxis& axis)
    : GDALDimension(parent_name(dimension), dimension.GetName(), dimension.GetType(),
                    dimension.GetDirection(), dimension.GetSize()),
      axis_(axis) {}

std::shared_ptr<GDALMDArray> RegularDimension::GetIndexingVariable() const {
  return guarded<std::shared_ptr<GDALMDArray>>(nullptr, [this] {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<GDALMDArray> variable = variable_.lock();
    if (!variable) {
      const auto self = std::const_pointer_cast<RegularDimension>(shared_from_this());
      variable = GDALMDArrayRegularlySpaced::Create(parent_name(*this), GetName(), self,
                                                    axis_.first_centre, axis_.step, 0);
      variable_ = variable;
    }
    return variable;
  });
}

}  // namespace gdal_zarr
