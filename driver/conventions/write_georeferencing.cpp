#include "driver/conventions/write_georeferencing.h"

#include <algorithm>
#include <cmath>

#include "driver/conventions/cf/grid_mapping.h"
#include "driver/conventions/coordinate_attributes.h"
#include "driver/conventions/crs.h"
#include "driver/conventions/proj.h"
#include "driver/conventions/spatial.h"
#include "driver/conventions/zarr_conventions.h"
#include "driver/gdal/crs_export.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {
namespace {

using zarrcore::find_member;
using zarrcore::Json;

constexpr const char* kGridMapping = "grid_mapping";

bool has_member(const Json& attributes, std::string_view prefix) {
  const auto items = attributes.items();
  return std::any_of(items.begin(), items.end(),
                     [&](const auto& item) { return item.key().starts_with(prefix); });
}

// `attributes` without any statement of place. Which dimensions are X and Y is none.
Json without_place(const Json& attributes) {
  Json others = Json::object();
  for (const auto& [name, value] : attributes.items()) {
    // GDAL writes `gdal:geotransform`, too, and believes it.
    const bool is_of_place = name == "_CRS" || name == kGridMapping ||
                             name == "gdal:geotransform" || name.starts_with("proj:") ||
                             (name.starts_with("spatial:") && name != "spatial:dimensions");
    if (!is_of_place) others[name] = value;
  }
  return others;
}

// What a variable says of its old values.
constexpr const char* kOfValues[] = {"standard_name", "long_name",    "units",      "axis",
                                     "bounds",        "scale_factor", "add_offset", "_FillValue",
                                     "missing_value", "valid_min",    "valid_max",  "valid_range",
                                     "actual_range"};

// Whether coordinates are those of the cells from `origin` on, as far as anybody could see.
bool are_centres(const std::vector<double>& coordinates, double origin, double step,
                 std::uint64_t size) {
  if (coordinates.size() != size || size == 0) return false;
  const auto is_near = [&](double coordinate, std::uint64_t cell) {
    const double distance = (static_cast<double>(cell) + 0.5) * step;
    return std::abs(coordinate - origin - distance) <= 1e-6 * std::abs(step);
  };
  if (!is_near(coordinates.front(), 0)) return false;
  if (size == 1) return true;
  const auto axis = find_regular_axis(coordinates);
  // The step counts as often as there are cells.
  return axis && is_near(axis->first_centre + axis->step * static_cast<double>(size - 1), size - 1);
}

class Writer {
 public:
  Writer(GeoreferencingConvention convention, const GeoreferencedArray& array,
         const std::optional<GeoTransform>& transform, const OGRSpatialReference* crs)
      : convention_(convention),
        array_(array),
        transform_(transform),
        crs_(crs != nullptr && !crs->IsEmpty() ? crs : nullptr),
        attributes_(without_place(array.attributes)) {
    if (transform_ && !std::all_of(transform_->begin(), transform_->end(),
                                   [](double number) { return std::isfinite(number); })) {
      throw zarrcore::Error("the geotransform of array " + array.name + " is not finite");
    }
    if (convention_ == GeoreferencingConvention::cf && !array.find_node) {
      convention_ = GeoreferencingConvention::gdal;
    }
  }

  GeoreferencingChange write() {
    const bool is_told_by_coordinates = write_coordinates();
    write_transform(is_told_by_coordinates);
    write_crs();
    declare_convention(attributes_, ZarrConvention::proj, has_member(attributes_, "proj:"));
    declare_convention(attributes_, ZarrConvention::spatial, has_member(attributes_, "spatial:"));
    change_.array = difference(array_.attributes, attributes_);
    change_.meanwhile = state_all();
    return std::move(change_);
  }

 private:
  struct Axis {
    const RasterDimension& dimension;
    CoordinateAxis which;
    double origin = 0;
    double step = 0;
    std::optional<NodeBeside> node = std::nullopt;
    bool is_nameable = false;  // whether a variable could have the name

    bool is_told() const {
      return node && are_centres(node->coordinates, origin, step, dimension.size);
    }
    bool has_own_coordinates() const { return node && node->is_own && !node->coordinates.empty(); }
    bool may_be_written() const {
      return is_nameable && (!node || has_own_coordinates()) && step != 0 && dimension.size > 0 &&
             dimension.size <= kMaxCoordinates;
    }
  };

  bool covered_by(std::string_view prefix) const {
    return std::any_of(array_.groups.begin(), array_.groups.end(),
                       [&](const auto& group) { return group && has_member(*group, prefix); });
  }

  Axis make_axis(const RasterDimension& dimension, CoordinateAxis which) const {
    Axis axis{dimension, which};
    if (transform_) {
      const std::size_t first = which == CoordinateAxis::x ? 0 : 3;
      axis.origin = (*transform_)[first];
      axis.step = (*transform_)[which == CoordinateAxis::x ? 1 : 5];
    }
    axis.is_nameable = array_.find_node && zarrcore::is_valid_segment(dimension.name) &&
                       dimension.name != array_.name && array_.x.name != array_.y.name;
    if (axis.is_nameable) axis.node = array_.find_node(dimension.name);
    return axis;
  }

  // Returns whether the transform can be read from coordinate variables, old or new.
  bool write_coordinates() {
    Axis x = make_axis(array_.x, CoordinateAxis::x);
    Axis y = make_axis(array_.y, CoordinateAxis::y);
    if (!transform_) {
      keep_uneven(x, y);
      return false;
    }
    const bool is_upright = (*transform_)[2] == 0 && (*transform_)[4] == 0;
    const auto is_possible = [](const Axis& axis) {
      return axis.is_told() || axis.may_be_written();
    };
    // One axis alone would say less than none.
    if (!is_upright || !is_possible(x) || !is_possible(y)) {
      if (!is_upright || !x.is_told()) remove(x);
      if (!is_upright || !y.is_told()) remove(y);
      return false;
    }
    const bool x_is_readable = write_axis(x);
    const bool y_is_readable = write_axis(y);
    return x_is_readable && y_is_readable;
  }

  // Without a transform nothing may look like one.
  void keep_uneven(const Axis& x, const Axis& y) {
    const auto is_even = [](const Axis& axis) {
      return axis.node && find_regular_axis(axis.node->coordinates);
    };
    for (const Axis* axis : {&x, &y}) {
      if (is_even(x) && is_even(y)) {
        remove(*axis);
      } else {
        keep(*axis);
      }
    }
  }

  // Returns whether the spacing of its cells can be read from the variable.
  bool write_axis(const Axis& axis) {
    const RasterDimension& dimension = axis.dimension;
    if (axis.is_told()) {
      keep(axis);
      return dimension.size > 1;
    }
    Json attributes = axis.has_own_coordinates() ? axis.node->attributes : Json::object();
    for (const char* name : kOfValues) attributes.erase(name);
    attributes.update(coordinate_attributes(axis.which, crs_));
    std::vector<double> centres = cell_centres(axis.origin, axis.step, dimension.size);
    const bool is_readable =
        dimension.size > 1 && are_centres(centres, axis.origin, axis.step, dimension.size);
    change_.variables.push_back(
        {dimension.name, {dimension.name}, std::move(centres), std::move(attributes)});
    return is_readable;
  }

  // The values stay; what they are depends on the CRS.
  void keep(const Axis& axis) {
    if (!axis.has_own_coordinates() || crs_ == nullptr) return;
    Json attributes = axis.node->attributes;
    for (const char* name : {"standard_name", "units"}) attributes.erase(name);
    const Json own = coordinate_attributes(axis.which, crs_);
    for (const auto& [name, value] : own.items()) {
      if (name != "long_name") attributes[name] = value;
    }
    AttributeChange change = difference(axis.node->attributes, attributes);
    if (!change.empty()) {
      change_.variable_attributes.emplace_back(axis.dimension.name, std::move(change));
    }
  }

  void remove(const Axis& axis) {
    if (axis.has_own_coordinates()) {
      change_.removed_variables.push_back(axis.dimension.name);
    } else if (axis.node && !axis.node->coordinates.empty()) {
      change_.warning = "the coordinates of " + axis.dimension.name + " that array " + array_.name +
                        " shares with others stay as they are, and contradict it";
    }
  }

  void write_transform(bool is_told_by_coordinates) {
    const bool is_covered = covered_by("spatial:transform");
    if (!transform_) {
      if (is_covered) attributes_["spatial:transform"] = nullptr;
      return;
    }
    if (is_told_by_coordinates && !is_covered &&
        convention_ != GeoreferencingConvention::spatial_proj) {
      return;
    }
    write_spatial_to(attributes_);
  }

  void write_spatial_to(Json& attributes) const {
    std::optional<SpatialDimensions> dimensions;
    if (!array_.x.name.empty() && !array_.y.name.empty()) {
      dimensions = {array_.y.name, array_.x.name};
    }
    write_spatial(attributes, *transform_, array_.x.size, array_.y.size, dimensions);
  }

  Json state_all() const {
    Json attributes = without_place(array_.attributes);
    if (transform_) {
      write_spatial_to(attributes);
    } else {
      attributes["spatial:transform"] = nullptr;
    }
    if (crs_ != nullptr) {
      write_proj(attributes, *crs_);
    } else {
      attributes["proj:code"] = nullptr;
    }
    declare_convention(attributes, ZarrConvention::proj, true);
    declare_convention(attributes, ZarrConvention::spatial, true);
    return attributes;
  }

  void write_crs() {
    const std::string old_mapping = grid_mapping_variable(array_.attributes);
    std::string mapping;
    if (crs_ != nullptr) {
      if (convention_ == GeoreferencingConvention::gdal) write_crs_of_gdal();
      if (convention_ == GeoreferencingConvention::cf) mapping = write_grid_mapping(old_mapping);
      if (convention_ == GeoreferencingConvention::spatial_proj || covered_by("proj:")) {
        write_proj(attributes_, *crs_);
      }
    } else if (covered_by("proj:") || covered_by("stac_discovery") ||
               covered_by("other_metadata")) {
      attributes_["proj:code"] = nullptr;
    }
    if (old_mapping != mapping && may_name_mapping(old_mapping)) {
      const auto node = array_.find_node(old_mapping);
      if (node && node->is_own) change_.removed_variables.push_back(old_mapping);
    }
  }

  void write_crs_of_gdal() {
    Json& value = attributes_["_CRS"] = Json::object();
    const std::string code = authority_code(*crs_);
    if (code.starts_with("EPSG:")) {
      value["url"] = "http://www.opengis.net/def/crs/EPSG/0/" + code.substr(5);
    }
    value["wkt"] = export_wkt_with_epoch(*crs_);
    value["projjson"] = export_projjson(*crs_);
  }

  // Returns the name of the variable.
  std::string write_grid_mapping(const std::string& old_name) {
    Json wanted = grid_mapping_attributes(*crs_);
    if (transform_) wanted["GeoTransform"] = format_geotransform(*transform_);
    const auto is_usable = [&](const std::string& name) {
      if (!may_name_mapping(name)) return false;
      const auto node = array_.find_node(name);
      return !node || (node->is_own && name == old_name) || node->attributes == wanted;
    };
    // Any name will do. Other arrays keep their variables, but one that says the same is shared.
    std::string name = old_name.empty() ? "spatial_ref" : old_name;
    for (int number = 1; !is_usable(name); ++number) {
      name = "spatial_ref_" + (number == 1 ? array_.name : std::to_string(number));
    }
    attributes_[kGridMapping] = name;
    const auto node = array_.find_node(name);
    if (!node || node->attributes != wanted) {
      change_.variables.push_back({name, {}, {}, std::move(wanted)});
    }
    return name;
  }

  bool may_name_mapping(const std::string& name) const {
    return array_.find_node && zarrcore::is_valid_segment(name) && name != array_.name &&
           name != array_.x.name && name != array_.y.name &&
           grid_mapping_variable({{kGridMapping, name}}) == name;
  }

  GeoreferencingConvention convention_;
  const GeoreferencedArray& array_;
  const std::optional<GeoTransform>& transform_;
  const OGRSpatialReference* crs_;  // null when there is none
  Json attributes_;                 // of the array, as they shall be
  GeoreferencingChange change_;
};

}  // namespace

GeoreferencingConvention georeferencing_convention(const Json& array_attributes) {
  if (find_member(array_attributes, "_CRS") != nullptr) return GeoreferencingConvention::gdal;
  if (find_member(array_attributes, kGridMapping) != nullptr) return GeoreferencingConvention::cf;
  // Both of the others may have `spatial:`, too.
  return has_member(array_attributes, "proj:") || has_member(array_attributes, "spatial:")
             ? GeoreferencingConvention::spatial_proj
             : GeoreferencingConvention::gdal;
}

GeoreferencingChange write_georeferencing(GeoreferencingConvention convention,
                                          const GeoreferencedArray& array,
                                          const std::optional<GeoTransform>& transform,
                                          const OGRSpatialReference* crs) {
  return Writer(convention, array, transform, crs).write();
}

}  // namespace gdal_zarr
