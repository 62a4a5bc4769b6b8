// Dimensions whose coordinates follow from the metadata of their array.
#include <algorithm>
#include <utility>

#include "driver/conventions/axis.h"
#include "driver/conventions/cf/attributes.h"
#include "driver/conventions/evidence.h"
#include "driver/conventions/position.h"
#include "driver/conventions/zarr_conventions.h"
#include "driver/gdal/messages.h"
#include "driver/multidim/attribute.h"
#include "driver/multidim/dimension.h"
#include "driver/multidim/georeferencing.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

using zarrcore::Json;
using Dimensions = std::vector<std::shared_ptr<GDALDimension>>;

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
  static std::shared_ptr<RegularVariable> create(std::shared_ptr<RegularDimension> dimension) {
    std::shared_ptr<RegularVariable> variable(new RegularVariable(std::move(dimension)));
    variable->SetSelf(variable);
    return variable;
  }

  bool IsWritable() const override { return false; }
  const std::string& GetFilename() const override { return filename_; }
  const Dimensions& GetDimensions() const override { return dimensions_; }
  const GDALExtendedDataType& GetDataType() const override { return type_; }
  const std::string& GetUnit() const override { return coordinates_.unit; }
  std::shared_ptr<GDALAttribute> GetAttribute(const std::string& name) const override {
    return make_attribute(GetFullName(), name,
                          zarrcore::find_member(coordinates_.attributes, name));
  }
  std::vector<std::shared_ptr<GDALAttribute>> GetAttributes(CSLConstList) const override {
    return make_attributes(GetFullName(), coordinates_.attributes);
  }

 protected:
  bool IRead(const GUInt64* start, const size_t* count, const GInt64* step,
             const GPtrDiff_t* stride, const GDALExtendedDataType& buffer_type,
             void* buffer) const override {
    return guarded(false, [&] {
      if (coordinates_.load) {
        std::call_once(once_, [this] { values_ = coordinates_.load(); });
        if (values_.size() != dimensions_[0]->GetSize()) {
          throw zarrcore::Error("the coordinates of " + GetName() + " cannot be read");
        }
      }
      auto* target = static_cast<GByte*>(buffer);
      const auto bytes = stride[0] * static_cast<GPtrDiff_t>(buffer_type.GetSize());
      for (std::size_t i = 0; i < count[0]; ++i) {
        const auto index = static_cast<std::size_t>(static_cast<GInt64>(start[0]) +
                                                    static_cast<GInt64>(i) * step[0]);
        const auto& [first_centre, length] = coordinates_.axis;
        const double value =
            coordinates_.load ? values_[index] : first_centre + static_cast<double>(index) * length;
        if (!GDALExtendedDataType::CopyValue(&value, type_, target, buffer_type)) return false;
        target += bytes;
      }
      return true;
    });
  }

 private:
  explicit RegularVariable(std::shared_ptr<RegularDimension> dimension)
      : GDALAbstractMDArray(parent_name(*dimension), dimension->GetName()),
        GDALMDArray(parent_name(*dimension), dimension->GetName()),
        coordinates_(dimension->coordinates()),
        dimensions_{std::move(dimension)} {}

  std::string filename_;
  const ComputedCoordinates& coordinates_;  // of the dimension
  Dimensions dimensions_;
  GDALExtendedDataType type_ = GDALExtendedDataType::Create(GDT_Float64);
  mutable std::once_flag once_;
  mutable std::vector<double> values_;  // that were loaded
};

void place(std::shared_ptr<GDALDimension>& dimension, ComputedCoordinates coordinates) {
  dimension = std::make_shared<RegularDimension>(*dimension, std::move(coordinates));
}

// Uses the array's own `spatial:transform`.
void place_raster_axes(const Array& array, const RasterAxes& axes, Dimensions& dimensions) {
  // A wrong transform is reported where it is looked for.
  const QuietErrors quiet;
  const auto transform = spatial_transform(array.attributes());
  const Json* shape = zarrcore::find_value(array.attributes(), "spatial:shape");
  const zarrcore::Shape& lengths = array.core().shape();
  const bool is_other =
      shape != nullptr && *shape != Json::array({lengths[axes.y], lengths[axes.x]});
  if (is_other || !transform || (*transform)[2] != 0 || (*transform)[4] != 0) return;
  const auto place_axis = [&](std::size_t axis, double origin, double step) {
    if (dimensions[axis]->GetIndexingVariable()) return;
    place(dimensions[axis], {.axis = {origin + step / 2, step}});
  };
  place_axis(axes.x, (*transform)[0], (*transform)[1]);
  place_axis(axes.y, (*transform)[3], (*transform)[5]);
}

// Computes coordinates from the lengths of steps that units state. X and Y get none: with
// coordinates, an image in pixels would look georeferenced.
void place_other_axes(const Array& array, const RasterAxes& axes, Dimensions& dimensions) {
  try {
    const auto units = dimension_units(array.attributes(), dimensions.size());
    for (std::size_t axis = 0; axis < dimensions.size(); ++axis) {
      const auto& unit = units[axis];
      const bool says_something = unit && (unit->multiplier != 1 || !unit->base.empty());
      if (axis == axes.x || axis == axes.y || !says_something) continue;
      if (dimensions[axis]->GetIndexingVariable()) continue;
      place(dimensions[axis],
            {.axis = {0, unit->multiplier}, .unit = unit->base, .is_relative = true});
    }
  } catch (const zarrcore::Error& error) {
    report(CE_Warning, CPLE_AppDefined, "Zarr: array %s: %s", array.GetFullName().c_str(),
           error.what());
  }
}

// Angles of a satellite's view become lengths, as the CRS has them.
void place_satellite_axes(const Evidence& evidence, const RasterAxes& axes,
                          Dimensions& dimensions) {
  const FoundCrs found = [&] {
    // A wrong CRS is reported where it is looked for.
    const QuietErrors quiet;
    return find_crs(evidence, axes);
  }();
  const auto height = found.crs ? satellite_height(*found.crs) : std::nullopt;
  if (!height) return;
  for (const std::size_t axis : {axes.x, axes.y}) {
    const auto variable = dimensions[axis]->GetIndexingVariable();
    const double factor = metres_of_view(evidence.axes[axis], *height);
    if (!variable || !evidence.axes[axis].attributes || factor == 0) continue;
    Json attributes = *evidence.axes[axis].attributes;
    for (const char* name : {"scale_factor", "add_offset", "units", "_FillValue", "valid_range"}) {
      attributes.erase(name);
    }
    const auto load = [variable, factor] {
      std::vector<double> values = read_values(*variable);
      for (double& value : values) value *= factor;
      return values;
    };
    place(dimensions[axis], {.load = load, .attributes = std::move(attributes), .unit = "m"});
  }
}

bool is_in_angles_of_view(Session& session, const GDALDimension& dimension) {
  const auto* own = dynamic_cast<const Dimension*>(&dimension);
  if (own == nullptr) return false;
  const std::string path =
      session.dimensions().variable_path(own->group(), own->GetName(), own->GetSize());
  const auto variable = path.empty() ? nullptr : session.array_metadata(path);
  const std::string* unit =
      variable ? zarrcore::find_string(variable->attributes, "units") : nullptr;
  return unit != nullptr && cf::read_unit(*unit).kind == cf::UnitKind::angle &&
         !STARTS_WITH_CI(unit->c_str(), "degree");
}

}  // namespace

RegularDimension::RegularDimension(const GDALDimension& dimension, ComputedCoordinates coordinates)
    : GDALDimension(parent_name(dimension), dimension.GetName(), dimension.GetType(),
                    dimension.GetDirection(), dimension.GetSize()),
      coordinates_(std::move(coordinates)) {}

std::shared_ptr<GDALMDArray> RegularDimension::GetIndexingVariable() const {
  return guarded<std::shared_ptr<GDALMDArray>>(nullptr, [this]() -> std::shared_ptr<GDALMDArray> {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<GDALMDArray> variable = variable_.lock();
    if (!variable) {
      variable =
          RegularVariable::create(std::const_pointer_cast<RegularDimension>(shared_from_this()));
      variable_ = variable;
    }
    return variable;
  });
}

void place_dimensions(const std::shared_ptr<const Array>& array, Dimensions& dimensions) {
  Session& session = *array->session();
  if (session.is_writable() || dimensions.size() < 2) return;
  const bool has_transform = array->attributes().contains("spatial:transform");
  const bool has_units = array->attributes().contains("dimension_units");
  const bool has_angles = std::ranges::any_of(
      dimensions, [&](const auto& dimension) { return is_in_angles_of_view(session, *dimension); });
  if (!has_transform && !has_units && !has_angles) return;
  Evidence evidence = gather_evidence(array, dimensions);
  evidence.axes_of = nullptr;  // it may need the dimensions, which are being created
  const RasterAxes axes = find_raster_axes(evidence);
  if (has_transform) place_raster_axes(*array, axes, dimensions);
  if (has_units) place_other_axes(*array, axes, dimensions);
  if (has_angles) place_satellite_axes(evidence, axes, dimensions);
}

}  // namespace gdal_zarr
