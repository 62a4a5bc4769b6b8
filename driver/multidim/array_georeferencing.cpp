// The georeferencing of an array: its axes, CRS and coordinates.
#include <cpl_conv.h>
#include <cpl_string.h>

#include "driver/conventions/crs.h"
#include "driver/conventions/dimension_units.h"
#include "driver/conventions/eopf.h"
#include "driver/gdal/error_guard.h"
#include "driver/gdal/messages.h"
#include "driver/multidim/array.h"
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

std::optional<std::size_t> Array::find_axis(const Dimensions& dimensions,
                                            std::string SpatialDimensions::* which,
                                            const char* type) const {
  auto names = spatial_dimensions(attributes_);
  if (!names) names = spatial_dimensions(*group_attributes());
  if (names) {
    for (std::size_t i = 0; i < rank(); ++i) {
      if (dimensions[i]->GetName() == (*names).*which) return i;
    }
  }
  for (std::size_t i = 0; i < rank(); ++i) {
    if (dimensions[i]->GetType() == type) return i;
  }
  return std::nullopt;
}

std::optional<std::size_t> Array::x_dimension() const {
  return find_axis(GetDimensions(), &SpatialDimensions::x, GDAL_DIM_TYPE_HORIZONTAL_X);
}

std::optional<std::size_t> Array::y_dimension() const {
  return find_axis(GetDimensions(), &SpatialDimensions::y, GDAL_DIM_TYPE_HORIZONTAL_Y);
}

Array::RasterAxes Array::raster_axes() const {
  return raster_axes(GetDimensions());
}

Array::RasterAxes Array::raster_axes(const Dimensions& dimensions) const {
  const auto x = find_axis(dimensions, &SpatialDimensions::x, GDAL_DIM_TYPE_HORIZONTAL_X);
  const auto y = find_axis(dimensions, &SpatialDimensions::y, GDAL_DIM_TYPE_HORIZONTAL_Y);
  if (x && y && x != y) return {*x, *y};
  return {rank() - 1, rank() - 2};
}

// Gives coordinates to dimensions that have no variable. Not in a writable store, where programs
// create the variable.
void Array::place_dimensions() const {
  computed_coordinates_.clear();
  if (session_->is_writable() || rank() < 2) return;
  const bool has_transform = attributes_.contains("spatial:transform");
  const bool has_units = attributes_.contains("dimension_units");
  if (!has_transform && !has_units) return;
  const RasterAxes axes = raster_axes(dimensions_);
  if (has_transform) place_raster_axes(axes);
  if (has_units) place_other_axes(axes);
}

void Array::place_dimension(std::size_t axis,
                            const std::shared_ptr<RegularDimension>& placed) const {
  if (dimensions_[axis]->GetIndexingVariable()) return;
  dimensions_[axis] = placed;
  computed_coordinates_.push_back(placed->GetIndexingVariable());
}

// By the array's own `spatial:transform`.
void Array::place_raster_axes(const RasterAxes& axes) const {
  const MaskedMessages masked;  // a wrong transform is reported where it is looked for
  const auto transform = spatial_transform(attributes_);
  if (!transform || (*transform)[2] != 0 || (*transform)[4] != 0) return;
  const auto place = [&](std::size_t axis, double origin, double step) {
    place_dimension(axis, std::make_shared<RegularDimension>(*dimensions_[axis],
                                                             RegularAxis{origin + step / 2, step}));
  };
  place(axes.x, (*transform)[0], (*transform)[1]);
  place(axes.y, (*transform)[3], (*transform)[5]);
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

std::shared_ptr<const Json> Array::find_variable(const std::string& name) const {
  if (!zarrcore::is_valid_segment(name)) return nullptr;
  for (std::string group(zarrcore::parent_path(node_path())); !session_->root_is_array();
       group = zarrcore::parent_path(group)) {
    const std::string path = zarrcore::join_path(group, name);
    if (session_->hierarchy().node(path)) return session_->attributes(path);
    if (group.empty()) break;
  }
  return session_->enclosing_groups().find_attributes(name);
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

std::shared_ptr<OGRSpatialReference> Array::crs() const {
  if (auto beside = pam_crs()) return beside;
  auto found = own_crs();
  if (found) return found;
  const auto finest = finest_level();
  return finest ? finest->own_crs() : nullptr;
}

// Set in a store opened for reading.
std::shared_ptr<OGRSpatialReference> Array::pam_crs() const {
  if (!session_->has_pam()) return nullptr;
  return GDALPamMDArray::GetSpatialRef();
}

std::shared_ptr<OGRSpatialReference> Array::own_crs() const {
  CrsSources sources{attributes_, {},
                     nullptr,     [this](const std::string& name) { return find_variable(name); },
                     {},          CPLGetFilename(session_->path().c_str())};
  const auto x = x_dimension();
  sources.groups.push_back(group_attributes());
  if (const auto member = pyramid()) {
    sources.groups.push_back(
        member->session->attributes(member->level.group, zarrcore::NodeKind::group));
  }
  if (session_->root_is_array()) {
    if (x && y_dimension()) sources.root = root_attributes();
  } else {
    // The CRS of a product holds for its projected grids.
    if ((x && y_dimension()) || (is_eopf_array(attributes_) && rank() >= 2)) {
      sources.root = root_attributes();
    }
  }
  if (x) {
    if (const auto variable = known_dimensions()[*x]->GetIndexingVariable()) {
      sources.linear_unit = variable->GetUnit();
      if (STARTS_WITH_CI(sources.linear_unit.c_str(), "degree")) sources.root = nullptr;
    }
  }
  return find_crs(sources);
}

std::shared_ptr<OGRSpatialReference> Array::GetSpatialRef() const {
  return guarded<std::shared_ptr<OGRSpatialReference>>(nullptr, [&] {
    if (auto beside = pam_crs()) return beside;
    auto found = crs();
    const std::size_t rank = this->rank();
    if (found && rank >= 2) {
      const auto [x, y] = raster_axes();
      set_axis_mapping(*found, static_cast<int>(x) + 1, static_cast<int>(y) + 1);
    }
    return found;
  });
}

// The rest of the georeferencing, such as coordinates, stays as it is.
bool Array::SetSpatialRef(const OGRSpatialReference* crs) {
  return guarded(false, [&] {
    check_exists();
    if (!session_->is_writable()) return GDALPamMDArray::SetSpatialRef(crs);
    if (pam_crs()) GDALPamMDArray::SetSpatialRef(nullptr);
    const std::size_t rank = this->rank();
    const auto self = std::dynamic_pointer_cast<Array>(m_pSelf.lock());
    RasterAxes axes{0, 0};
    if (rank > 1) axes = raster_axes();
    const RasterView view(self, rank > 0 ? std::optional(axes.x) : std::nullopt,
                          rank > 1 ? std::optional(axes.y) : std::nullopt,
                          std::vector<std::uint64_t>(rank > 2 ? rank - 2 : 0, 0));
    store_georeferencing(view, find_geotransform(view), crs);
    return true;
  });
}

std::vector<std::shared_ptr<Array>> Array::coordinate_arrays() const {
  std::vector<std::shared_ptr<Array>> variables;
  const std::string* names = zarrcore::find_string(attributes_, "coordinates");
  if (names == nullptr || session_->root_is_array()) return variables;
  const CPLStringList list(CSLTokenizeString2(names->c_str(), " ", 0));
  const std::string group(zarrcore::parent_path(node_path()));
  for (int i = 0; i < list.size(); ++i) {
    if (!zarrcore::is_valid_segment(list[i])) continue;
    const std::string path = zarrcore::join_path(group, list[i]);
    if (session_->coordinate_arrays().metadata(path)) variables.push_back(session_->array(path));
  }
  return variables;
}

std::vector<std::shared_ptr<GDALMDArray>> Array::GetCoordinateVariables() const {
  return guarded<std::vector<std::shared_ptr<GDALMDArray>>>({}, [&] {
    const auto arrays = coordinate_arrays();
    return std::vector<std::shared_ptr<GDALMDArray>>(arrays.begin(), arrays.end());
  });
}

}  // namespace gdal_zarr
