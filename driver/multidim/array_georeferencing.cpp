// The georeferencing of an array: its axes, CRS and coordinates.
#include <cpl_conv.h>
#include <cpl_string.h>

#include "driver/conventions/crs.h"
#include "driver/conventions/eopf.h"
#include "driver/gdal/error_guard.h"
#include "driver/gdal/messages.h"
#include "driver/multidim/array.h"
#include "driver/multidim/georeferencing.h"
#include "driver/multidim/georeferencing_write.h"
#include "driver/multidim/regular_dimension.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {

using zarrcore::Json;

GeoreferencingConvention Array::convention() const {
  const auto own = georeferencing_convention(metadata().attributes);
  return own == GeoreferencingConvention::gdal ? convention_ : own;
}

std::optional<std::size_t> Array::find_dimension(const char* type) const {
  for (std::size_t i = 0; i < rank(); ++i) {
    if (GetDimensions()[i]->GetType() == type) return i;
  }
  return std::nullopt;
}

std::optional<std::size_t> Array::x_dimension() const {
  if (const auto position = find_spatial_dimension(&SpatialDimensions::x)) return position;
  return find_dimension(GDAL_DIM_TYPE_HORIZONTAL_X);
}

std::optional<std::size_t> Array::y_dimension() const {
  if (const auto position = find_spatial_dimension(&SpatialDimensions::y)) return position;
  return find_dimension(GDAL_DIM_TYPE_HORIZONTAL_Y);
}

Array::RasterAxes Array::raster_axes() const {
  const auto x = x_dimension();
  const auto y = y_dimension();
  if (x && y && x != y) return {*x, *y};
  return {rank() - 1, rank() - 2};
}

std::optional<std::size_t> Array::find_spatial_dimension(
    std::string SpatialDimensions::* which) const {
  auto names = spatial_dimensions(attributes_);
  if (!names) names = spatial_dimensions(*group_attributes());
  if (!names) return std::nullopt;
  for (std::size_t i = 0; i < rank(); ++i) {
    if (GetDimensions()[i]->GetName() == (*names).*which) return i;
  }
  return std::nullopt;
}

// Its own `spatial:transform` gives coordinates to dimensions that have no variable. Not in a
// writable store, where programs create the variable.
void Array::place_dimensions() const {
  computed_coordinates_.clear();
  if (session_->is_writable() || rank() < 2 || !attributes_.contains("spatial:transform")) return;
  const MaskedMessages masked;  // a wrong transform is reported where it is looked for
  const auto transform = spatial_transform(attributes_);
  if (!transform || (*transform)[2] != 0 || (*transform)[4] != 0) return;
  const auto names = spatial_dimensions(attributes_);
  const auto find = [&](const std::string& name, const char* type, std::size_t otherwise) {
    for (std::size_t i = 0; i < rank(); ++i) {
      const GDALDimension& dimension = *dimensions_[i];
      if (names ? dimension.GetName() == name : dimension.GetType() == type) return i;
    }
    return otherwise;
  };
  const SpatialDimensions named = names.value_or(SpatialDimensions{});
  const std::size_t x = find(named.x, GDAL_DIM_TYPE_HORIZONTAL_X, rank() - 1);
  const std::size_t y = find(named.y, GDAL_DIM_TYPE_HORIZONTAL_Y, rank() - 2);
  if (x == y) return;
  const auto place = [&](std::size_t axis, double origin, double step) {
    auto& dimension = dimensions_[axis];
    if (dimension->GetIndexingVariable()) return;
    dimension =
        std::make_shared<RegularDimension>(*dimension, RegularAxis{origin + step / 2, step});
    computed_coordinates_.push_back(dimension->GetIndexingVariable());
  };
  place(x, (*transform)[0], (*transform)[1]);
  place(y, (*transform)[3], (*transform)[5]);
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
  if (session_->root_is_array()) {
    if (x && y_dimension()) sources.root = root_attributes();
  } else {
    if (const auto pyramid = session_->pyramids().find(node_path())) {
      sources.groups.push_back(session_->attributes(pyramid->group, zarrcore::NodeKind::group));
    }
    // The CRS of a product holds for its projected grids.
    if ((x && y_dimension()) || (is_eopf_array(attributes_) && rank() >= 2)) {
      sources.root = root_attributes();
    }
  }
  if (x) {
    if (const auto variable = GetDimensions()[*x]->GetIndexingVariable()) {
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
