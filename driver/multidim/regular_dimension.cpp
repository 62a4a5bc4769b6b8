#include "driver/multidim/regular_dimension.h"

#include <string>

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

// Like the variable of any dimension, it is the variable of its own dimension too, but neither it
// nor that dimension may own the dimension that owns it.
RegularDimension::RegularDimension(const GDALDimension& dimension, const RegularAxis& axis)
    : GDALDimension(parent_name(dimension), dimension.GetName(), dimension.GetType(),
                    dimension.GetDirection(), dimension.GetSize()) {
  const auto own = std::make_shared<GDALDimensionWeakIndexingVar>(
      parent_name(dimension), dimension.GetName(), dimension.GetType(), dimension.GetDirection(),
      dimension.GetSize());
  variable_ = GDALMDArrayRegularlySpaced::Create(std::string(), dimension.GetName(), own,
                                                 axis.first_centre, axis.step, 0);
  own->SetIndexingVariable(variable_);
}

}  // namespace gdal_zarr
