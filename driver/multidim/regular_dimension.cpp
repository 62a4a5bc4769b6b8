#include "driver/multidim/regular_dimension.h"

#include <utility>
#include <vector>

#include "driver/gdal/error_guard.h"
#include "driver/multidim/attribute.h"
#include "zarrcore/base/error.h"

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
                                                 const RegularAxis& axis,
                                                 std::function<std::vector<double>()> load,
                                                 std::string unit,
                                                 const zarrcore::Json& attributes) {
    std::shared_ptr<RegularVariable> variable(
        new RegularVariable(std::move(dimension), axis, std::move(unit)));
    variable->load_ = std::move(load);
    variable->attributes_ = attributes;
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
  std::shared_ptr<GDALAttribute> GetAttribute(const std::string& name) const override {
    return find_attribute(GetFullName(), attributes_, name, nullptr);
  }
  std::vector<std::shared_ptr<GDALAttribute>> GetAttributes(CSLConstList) const override {
    return make_attributes(GetFullName(), attributes_, nullptr);
  }

 protected:
  bool IRead(const GUInt64* start, const size_t* count, const GInt64* step,
             const GPtrDiff_t* stride, const GDALExtendedDataType& buffer_type,
             void* buffer) const override {
    const bool is_loaded = guarded(false, [this] {
      if (!load_) return true;
      std::call_once(once_, [this] { values_ = load_(); });
      if (values_.size() == dimensions_[0]->GetSize()) return true;
      throw zarrcore::Error("the coordinates of " + GetName() + " cannot be read");
    });
    if (!is_loaded) return false;
    auto* target = static_cast<GByte*>(buffer);
    const auto bytes = stride[0] * static_cast<GPtrDiff_t>(buffer_type.GetSize());
    for (std::size_t i = 0; i < count[0]; ++i) {
      const auto index = static_cast<std::size_t>(static_cast<GInt64>(start[0]) +
                                                  static_cast<GInt64>(i) * step[0]);
      const double value =
          !load_ ? axis_.first_centre + static_cast<double>(index) * axis_.step : values_[index];
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
  std::function<std::vector<double>()> load_;  // if there is one, instead of the axis
  mutable std::once_flag once_;
  mutable std::vector<double> values_;  // that it has loaded
  std::string unit_;
  zarrcore::Json attributes_;
};

}  // namespace

RegularDimension::RegularDimension(const GDALDimension& dimension, const RegularAxis& axis)
    : GDALDimension(parent_name(dimension), dimension.GetName(), dimension.GetType(),
                    dimension.GetDirection(), dimension.GetSize()),
      axis_(axis) {}

RegularDimension::RegularDimension(const GDALDimension& dimension,
                                   std::function<std::vector<double>()> load,
                                   zarrcore::Json attributes)
    : RegularDimension(dimension, RegularAxis{}) {
  load_ = std::move(load);
  attributes_ = std::move(attributes);
}

std::shared_ptr<GDALMDArray> RegularDimension::GetIndexingVariable() const {
  return guarded<std::shared_ptr<GDALMDArray>>(nullptr, [this]() -> std::shared_ptr<GDALMDArray> {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<GDALMDArray> variable = variable_.lock();
    if (!variable) {
      const auto self = std::const_pointer_cast<RegularDimension>(shared_from_this());
      variable = RegularVariable::create(self, axis_, load_, unit_, attributes_);
      variable_ = variable;
    }
    return variable;
  });
}

}  // namespace gdal_zarr
