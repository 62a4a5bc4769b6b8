// The georeferencing of an array: its axes, CRS and coordinates.
#include <algorithm>

#include "driver/conventions/cf/units.h"
#include "driver/conventions/crs.h"
#include "driver/conventions/crs_variable.h"
#include "driver/conventions/dimension_units.h"
#include "driver/conventions/raster_axes.h"
#include "driver/conventions/satellite.h"
#include "driver/conventions/spatial.h"
#include "driver/gdal/error_guard.h"
#include "driver/gdal/messages.h"
#include "driver/multidim/array.h"
#include "driver/multidim/dimension.h"
#include "driver/multidim/evidence.h"
#include "driver/multidim/georeferencing.h"
#include "driver/multidim/georeferencing_write.h"
#include "driver/multidim/regular_dimension.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {

using zarrcore::Json;

GeoreferencingConvention Array::convention() const {
  const auto own = georeferencing_convention(metadata().attributes);
  return own == GeoreferencingConvention::gdal ? convention_ : own;
}

RasterAxes Array::raster_axes() const {
  return find_raster_axes(evidence());
}

Evidence Array::evidence() const {
  return gather_evidence(std::dynamic_pointer_cast<const Array>(m_pSelf.lock()),
                         known_dimensions());
}

// Gives coordinates to dimensions that have no variable. Not in a writable store, where programs
// create the variable.
void Array::place_dimensions() const {
  computed_coordinates_.clear();
  if (session_->is_writable() || rank() < 2) return;
  const bool has_transform = attributes_.contains("spatial:transform");
  const bool has_units = attributes_.contains("dimension_units");
  const bool has_angles =
      std::any_of(dimensions_.begin(), dimensions_.end(), [&](const auto& dimension) {
        const auto* own = dynamic_cast<const Dimension*>(dimension.get());
        if (own == nullptr) return false;
        const std::string path =
            session_->dimensions().variable_path(own->group(), own->GetName(), own->GetSize());
        const auto variable = path.empty() ? nullptr : session_->array_metadata(path);
        const std::string* unit =
            variable ? zarrcore::find_string(variable->attributes, "units") : nullptr;
        return unit != nullptr && cf::read_unit(*unit).kind == cf::UnitKind::angle &&
               !STARTS_WITH_CI(unit->c_str(), "degree");
      });
  if (!has_transform && !has_units && !has_angles) return;
  Evidence evidence =
      gather_evidence(std::dynamic_pointer_cast<const Array>(m_pSelf.lock()), dimensions_);
  evidence.axes_of = nullptr;  // it may need the dimensions, which are being made
  const RasterAxes axes = find_raster_axes(evidence);
  if (has_transform) place_raster_axes(axes);
  if (has_units) place_other_axes(axes);
  if (has_angles) place_satellite_axes(evidence, axes);
}

void Array::place_dimension(std::size_t axis,
                            const std::shared_ptr<RegularDimension>& placed) const {
  if (dimensions_[axis]->GetIndexingVariable()) return;
  dimensions_[axis] = placed;
  computed_coordinates_.push_back(placed->GetIndexingVariable());
}

// By the array's own `spatial:transform`.
void Array::place_raster_axes(const RasterAxes& axes) const {
  // A wrong transform is reported where it is looked for.
  const CPLErrorStateBackuper error_state;
  const CPLErrorHandlerPusher quiet(CPLQuietErrorHandler);
  const auto transform = spatial_transform(attributes_);
  const Json* shape = zarrcore::find_member(attributes_, "spatial:shape");
  const bool is_other = shape != nullptr && !shape->is_null() &&
                        *shape != Json::array({array_->shape()[axes.y], array_->shape()[axes.x]});
  if (is_other || !transform || (*transform)[2] != 0 || (*transform)[4] != 0) return;
  const auto place = [&](std::size_t axis, double origin, double step) {
    place_dimension(axis, std::make_shared<RegularDimension>(*dimensions_[axis],
                                                             RegularAxis{origin + step / 2, step}));
  };
  place(axes.x, (*transform)[0], (*transform)[1]);
  place(axes.y, (*transform)[3], (*transform)[5]);
}

// Angles of a satellite's view become lengths, as the CRS has them.
void Array::place_satellite_axes(const Evidence& evidence, const RasterAxes& axes) const {
  const FoundCrs found = [&] {
    // So is a wrong CRS.
    const CPLErrorStateBackuper error_state;
    const CPLErrorHandlerPusher quiet(CPLQuietErrorHandler);
    return find_crs(evidence, axes);
  }();
  const auto height = found.crs ? satellite_height(*found.crs) : std::nullopt;
  if (!height) return;
  for (const std::size_t axis : {axes.x, axes.y}) {
    const auto variable = dimensions_[axis]->GetIndexingVariable();
    const double factor = metres_of_view(evidence.axes[axis], *height);
    if (!variable || !evidence.axes[axis].attributes || factor == 0) continue;
    Json attributes = *evidence.axes[axis].attributes;
    for (const char* name : {"scale_factor", "add_offset", "units", "_FillValue", "valid_range"}) {
      attributes.erase(name);
    }
    const auto placed = std::make_shared<RegularDimension>(
        *dimensions_[axis],
        [variable, factor] {
          std::vector<double> values = read_values(*variable);
          for (double& value : values) value *= factor;
          return values;
        },
        std::move(attributes));
    placed->set_unit("m");
    dimensions_[axis] = placed;
    computed_coordinates_.push_back(placed->GetIndexingVariable());
  }
}

// By the length of their steps. X and Y are left alone: with coordinates, an image in pixels would
// look like one that is placed on the Earth.
void Array::place_other_axes(const RasterAxes& axes) const {
  try {
    const auto units = dimension_units(attributes_, rank());
    for (std::size_t axis = 0; axis < rank(); ++axis) {
      const auto& unit = units[axis];
      const bool says_something = unit && (unit->multiplier != 1 || !unit->base.empty());
      if (axis == axes.x || axis == axes.y || !says_something) continue;
      const auto placed =
          std::make_shared<RegularDimension>(*dimensions_[axis], RegularAxis{0, unit->multiplier});
      placed->set_unit(unit->base);
      placed->set_relative();
      place_dimension(axis, placed);
    }
  } catch (const zarrcore::Error& error) {
    report(CE_Warning, CPLE_AppDefined, "Zarr: array %s: %s", GetFullName().c_str(), error.what());
  }
}

std::shared_ptr<const Json> Array::group_attributes() const {
  if (!session_->root_is_array()) {
    return session_->attributes(std::string(zarrcore::parent_path(node_path())),
                                zarrcore::NodeKind::group);
  }
  const auto above = session_->enclosing_groups().parent();
  return above ? above->attributes("", zarrcore::NodeKind::group)
               : std::make_shared<const Json>(Json::object());
}

std::shared_ptr<const Json> Array::root_attributes() const {
  std::shared_ptr<const Session> root = session_;
  while (auto above = root->enclosing_groups().parent()) root = above;
  return root->root_is_array() ? nullptr : root->attributes("", zarrcore::NodeKind::group);
}

// Set in a store opened for reading.
std::shared_ptr<OGRSpatialReference> Array::pam_crs() const {
  if (!session_->has_pam()) return nullptr;
  return GDALPamMDArray::GetSpatialRef();
}

std::shared_ptr<OGRSpatialReference> Array::GetSpatialRef() const {
  return guarded<std::shared_ptr<OGRSpatialReference>>(nullptr, [&] {
    if (auto beside = pam_crs()) return beside;
    if (rank() < 2) return find_crs(evidence(), std::nullopt).crs;
    const Evidence evidence = this->evidence();
    const RasterAxes axes = find_raster_axes(evidence);
    auto found = find_crs(evidence, axes).crs;
    if (found) {
      set_axis_mapping(*found, static_cast<int>(axes.x) + 1, static_cast<int>(axes.y) + 1);
    }
    return found;
  });
}

// The rest of the georeferencing, such as coordinates, stays as it is.
bool Array::SetSpatialRef(const OGRSpatialReference* crs) {
  return guarded(false, [&] {
    check_exists();
    if (!session_->is_writable()) return GDALPamMDArray::SetSpatialRef(crs);
    if (brings_crs_ && brings_crs_()) return true;
    if (pam_crs()) GDALPamMDArray::SetSpatialRef(nullptr);
    const std::size_t rank = this->rank();
    const auto self = std::dynamic_pointer_cast<Array>(m_pSelf.lock());
    if (rank < 2) {
      store_georeferencing({self, std::nullopt, std::nullopt, {}}, {{}, crs});
      return true;
    }
    const RasterAxes axes = raster_axes();
    const RasterView view(self, axes.x, axes.y, std::vector<std::uint64_t>(rank - 2, 0));
    Position position;
    {
      // The CRS that is replaced does not matter.
      const CPLErrorStateBackuper error_state;
      const CPLErrorHandlerPusher quiet(CPLQuietErrorHandler);
      position = find_position(view);
    }
    store_georeferencing(view, {position.transform.transform, crs, position.gcps});
    return true;
  });
}

std::vector<std::shared_ptr<GDALMDArray>> Array::GetCoordinateVariables() const {
  return guarded<std::vector<std::shared_ptr<GDALMDArray>>>({}, [&] {
    std::vector<std::shared_ptr<GDALMDArray>> variables;
    const Evidence evidence = this->evidence();
    for (const std::string& name : coordinate_names(evidence)) {
      const auto variable = evidence.find(name);
      if (variable && !variable->path.empty()) variables.push_back(session_->array(variable->path));
    }
    return variables;
  });
}

}  // namespace gdal_zarr
