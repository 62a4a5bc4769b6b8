#include "driver/multidim/regular_dimension.h"

#include <utility>
#include <vector>

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

// GDAL's own array of regularly spaced numbers has no unit.
class RegularVariable final : public GDALMDArray {
 public:
  static std::shared_ptr<RegularVariable> create(std::shared_ptr<GDALDimension> dimension,
                                                 const RegularAxis& axis, std::string unit) {
    std::shared_ptr<RegularVariable> variable(
        new RegularVariable(std::move(dimension), axis, std::move(unit)));
    variable->SetSelf(variable);
    return variable;
  }

  bool IsWritable() const override { return false; }
  const std::string& GetFilename() const override { return filename_; }
  const std::vector<std::shared_ptr<GDALDimension>>& GetDimensions() const override {
    return dimensions_;
  }
  const GDALExtendedDataType& GetDataType() const override { return type_; }
  const std::string& GetUnit() const override { return unit_; }

 protected:
  bool IRead(const GUInt64* start, const size_t* count, const GInt64* step,
             const GPtrDiff_t* stride, const GDALExtendedDataType& buffer_type,
             void* buffer) const override {
    auto* target = static_cast<GByte*>(buffer);
    const auto bytes = stride[0] * static_cast<GPtrDiff_t>(buffer_type.GetSize());
    for (std::size_t i = 0; i < count[0]; ++i) {
      const double index =
          static_cast<double>(start[0]) + static_cast<double>(i) * static_cast<double>(step[0]);
      const double value = axis_.first_centre + index * axis_.step;
      if (!GDALExtendedDataType::CopyValue(&value, type_, target, buffer_type)) return false;
      target += bytes;
    }
    return true;
  }

 private:
  RegularVariable(std::shared_ptr<GDALDimension> dimension, const RegularAxis& axis,
                  std::string unit)
      : GDALAbstractMDArray(parent_name(*dimension), dimension->GetName()),
        GDALMDArray(parent_name(*dimension), dimension->GetName()),
        dimensions_{std::move(dimension)},
        axis_(axis),
        unit_(std::move(unit)) {}

  std::string filename_;
  std::vector<std::shared_ptr<GDALDimension>> dimensions_;
  GDALExtendedDataType type_ = GDALExtendedDataType::Create(GDT_Float64);
  RegularAxis axis_;
  std::string unit_;
};

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
      variable = RegularVariable::create(self, axis_, unit_);
      variable_ = variable;
    }
    return variable;
  });
}

}  // namespace gdal_zarr
