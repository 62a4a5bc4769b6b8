#include "driver/conventions/write_georeferencing.h"

#include <algorithm>
#include <cmath>

#include "driver/conventions/axis.h"
#include "driver/conventions/cf/attributes.h"
#include "driver/conventions/cf/grid_mapping.h"
#include "driver/conventions/evidence.h"
#include "driver/conventions/gdal_attributes.h"
#include "driver/conventions/zarr_conventions.h"
#include "driver/gdal/crs_text.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {
namespace {

using zarrcore::find_member;
using zarrcore::Json;

bool has_member(const Json& attributes, std::string_view prefix) {
  const auto items = attributes.items();
  return std::any_of(items.begin(), items.end(),
                     [&](const auto& item) { return item.key().starts_with(prefix); });
}

// Lists the conventions that `attributes` follow.
void declare_conventions(Json& attributes) {
  declare_convention(attributes, ZarrConvention::proj, has_member(attributes, "proj:"));
  declare_convention(attributes, ZarrConvention::spatial, has_member(attributes, "spatial:"));
}

// `attributes` without georeferencing. The names of the dimensions X and Y and the registration
// stay.
Json without_georeferencing(const Json& attributes) {
  Json others = Json::object();
  for (const auto& [name, value] : attributes.items()) {
    // GDAL's built-in driver writes and reads `gdal:geotransform`.
    const bool is_georeferencing =
        name == "_CRS" || name == "_TRANSFORM" || name == cf::kGridMapping ||
        name == "gdal:geotransform" || name == kCoordinateEpoch || name.starts_with("proj:") ||
        name == "geo:proj" || (name == "geo" && find_member(value, "proj") != nullptr) ||
        (name == "crs" && import_crs(value) != nullptr) ||
        (name.starts_with("spatial:") && name != "spatial:dimensions" &&
         name != "spatial:registration");
    if (!is_georeferencing) others[name] = value;
  }
  // Of a transform, it is written again with the next one.
  if (find_member(attributes, "spatial:transform") != nullptr &&
      spatial_registration(attributes) == Registration::pixel) {
    others.erase("spatial:registration");
  }
  return others;
}

// Coordinate variables of X and Y (CF conventions, chapter 4 and section 5.6,
// https://cfconventions.org/cf-conventions/cf-conventions.html#coordinate-types): an array of one
// dimension, named like the dimension, with the centres of the cells.
//
//   axis = "X"   standard_name = "projection_x_coordinate"   units = "m"

// Attributes that describe the values of a variable.
constexpr const char* kOfValues[] = {"standard_name", "long_name",    "units",      "axis",
                                     "bounds",        "scale_factor", "add_offset", "_FillValue",
                                     "missing_value", "valid_min",    "valid_max",  "valid_range",
                                     "actual_range"};

// Returns true if coordinates are, to a precision that does not matter, the centres of the cells
// that begin at `origin`.
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
  // Errors of the step add up over the cells.
  return axis && is_near(axis->first_centre + axis->step * static_cast<double>(size - 1), size - 1);
}

class GeoreferencingWriter {
 public:
  GeoreferencingWriter(GeoreferencingConvention convention, const GeoreferencedArray& array,
                       const WrittenGeoreferencing& written)
      : convention_(convention),
        array_(array),
        transform_(written.transform),
        crs_(written.crs != nullptr && !written.crs->IsEmpty() ? written.crs : nullptr),
        gcps_(written.gcps),
        attributes_(without_georeferencing(array.attributes)) {
    if (transform_ && !std::all_of(transform_->begin(), transform_->end(),
                                   [](double number) { return std::isfinite(number); })) {
      throw zarrcore::Error("the geotransform of array " + array.name + " is not finite");
    }
    if (convention_ == GeoreferencingConvention::cf && !array.find_node) {
      convention_ = GeoreferencingConvention::gdal;
    }
  }

  GeoreferencingChange write() {
    write_transform(write_coordinates());
    write_crs();
    declare_conventions(attributes_);
    change_.array = difference(array_.attributes, attributes_);
    change_.meanwhile = state_all();
    return std::move(change_);
  }

 private:
  // A coordinate variable as it is, and what it has to state.
  struct Axis {
    const RasterDimension& dimension;
    bool is_x;
    double origin = 0;
    double step = 0;
    std::optional<NodeBeside> node = std::nullopt;
    bool is_nameable = false;  // true if a variable may have the name

    bool is_stated() const {
      return node && are_centres(node->coordinates, origin, step, dimension.size);
    }
    // The attributes of coordinates that belong to the array alone; null if there are none.
    const Json* own_attributes() const {
      return node && node->is_own && !node->coordinates.empty() ? &node->attributes : nullptr;
    }
    bool may_be_written() const {
      return is_nameable && (!node || own_attributes() != nullptr) && step != 0 &&
             dimension.size > 0 && dimension.size <= kMaxCoordinates;
    }
  };

  // Coordinate variables state the transform, or nothing that contradicts it. Returns true if it
  // can be read from them, old or new.
  bool write_coordinates() {
    const Axis x = make_axis(array_.x, true);
    const Axis y = make_axis(array_.y, false);
    if (!transform_) {
      // Coordinates must not imply one.
      const bool are_even = is_even(x) && is_even(y);
      for (const Axis* axis : {&x, &y}) {
        if (are_even) {
          remove(*axis);
        } else {
          keep(*axis);
        }
      }
      return false;
    }
    const bool is_upright = (*transform_)[2] == 0 && (*transform_)[4] == 0;
    const auto is_possible = [](const Axis& axis) {
      return axis.is_stated() || axis.may_be_written();
    };
    // Coordinates of one axis alone are useless.
    if (!is_upright || !is_possible(x) || !is_possible(y)) {
      if (!is_upright || !x.is_stated()) remove(x);
      if (!is_upright || !y.is_stated()) remove(y);
      return false;
    }
    const bool x_is_readable = write_axis(x);
    const bool y_is_readable = write_axis(y);
    return x_is_readable && y_is_readable;
  }

  Axis make_axis(const RasterDimension& dimension, bool is_x) const {
    Axis axis{dimension, is_x};
    if (transform_) {
      axis.origin = (*transform_)[is_x ? 0 : 3];
      axis.step = (*transform_)[is_x ? 1 : 5];
    }
    axis.is_nameable = array_.find_node && zarrcore::is_valid_segment(dimension.name) &&
                       dimension.name != array_.name && array_.x.name != array_.y.name;
    if (axis.is_nameable) axis.node = array_.find_node(dimension.name);
    return axis;
  }

  static bool is_even(const Axis& axis) {
    return axis.node && find_regular_axis(axis.node->coordinates);
  }

  // Returns true if the spacing of its cells can be read from the variable.
  bool write_axis(const Axis& axis) {
    const RasterDimension& dimension = axis.dimension;
    if (axis.is_stated()) {
      keep(axis);
      return dimension.size > 1;
    }
    const Json* own = axis.own_attributes();
    Json attributes = own != nullptr ? *own : Json::object();
    for (const char* name : kOfValues) attributes.erase(name);
    attributes.update(coordinate_attributes(axis.is_x, crs_));
    std::vector<double> centres = cell_centres(axis.origin, axis.step, dimension.size);
    const bool is_readable =
        dimension.size > 1 && are_centres(centres, axis.origin, axis.step, dimension.size);
    change_.variables.push_back(
        {dimension.name, {dimension.name}, std::move(centres), std::move(attributes)});
    return is_readable;
  }

  // Keeps the values; `standard_name` and `units` depend on the CRS.
  void keep(const Axis& axis) {
    const Json* current = axis.own_attributes();
    if (current == nullptr || crs_ == nullptr) return;
    Json attributes = *current;
    for (const char* name : {"standard_name", "units"}) attributes.erase(name);
    Json wanted = coordinate_attributes(axis.is_x, crs_);
    wanted.erase("long_name");
    attributes.update(wanted);
    AttributeChange change = difference(*current, attributes);
    if (!change.empty()) {
      change_.variable_attributes.emplace_back(axis.dimension.name, std::move(change));
    }
  }

  void remove(const Axis& axis) {
    if (axis.own_attributes() != nullptr) {
      change_.removed_variables.push_back(axis.dimension.name);
    } else if (axis.node && !axis.node->coordinates.empty()) {
      change_.warning = "the coordinates of " + axis.dimension.name + " that array " + array_.name +
                        " shares with others stay as they are, and contradict it";
    }
  }

  bool covered_by(std::string_view prefix) const {
    return std::any_of(array_.groups.begin(), array_.groups.end(),
                       [&](const auto& group) { return group && has_member(*group, prefix); });
  }

  void write_transform(bool is_in_coordinates) {
    const bool is_covered =
        covered_by("spatial:transform") || covered_by("proj:transform") || covered_by("geo:proj");
    if (!transform_) {
      if (is_covered) attributes_["spatial:transform"] = nullptr;
      return;
    }
    if (is_in_coordinates && !is_covered && convention_ != GeoreferencingConvention::spatial_proj) {
      return;
    }
    write_spatial_to(attributes_, *transform_);
  }

  void write_spatial_to(Json& attributes, const GeoTransform& transform) const {
    std::optional<SpatialDimensions> dimensions;
    if (!array_.x.name.empty() && !array_.y.name.empty()) {
      dimensions = {array_.y.name, array_.x.name};
    }
    auto registration = spatial_registration(attributes);
    const std::string* stated = zarrcore::find_string(attributes, "AREA_OR_POINT");
    if (!registration && stated != nullptr) registration = registration_of(*stated);
    write_spatial(attributes, transform, array_.x.size, array_.y.size, dimensions,
                  registration.value_or(Registration::pixel));
  }

  Json state_all() const {
    Json attributes = without_georeferencing(array_.attributes);
    if (transform_) {
      write_spatial_to(attributes, *transform_);
    } else {
      attributes["spatial:transform"] = nullptr;
    }
    if (crs_ != nullptr) {
      write_proj(attributes, *crs_);
    } else {
      attributes["proj:code"] = nullptr;
    }
    declare_conventions(attributes);
    return attributes;
  }

  void write_crs() {
    if (crs_ != nullptr && crs_->GetCoordinateEpoch() > 0 &&
        convention_ != GeoreferencingConvention::gdal) {
      attributes_[kCoordinateEpoch] = crs_->GetCoordinateEpoch();
    }
    const std::string old_mapping =
        grid_mapping_variable(array_.attributes, array_.x.name, array_.y.name);
    std::string mapping;
    if (crs_ != nullptr) {
      if (convention_ == GeoreferencingConvention::gdal) write_gdal_crs(attributes_, *crs_);
      if (convention_ == GeoreferencingConvention::cf) mapping = write_grid_mapping(old_mapping);
      if (convention_ == GeoreferencingConvention::spatial_proj || covered_by("proj:")) {
        write_proj(attributes_, *crs_);
      }
    }
    name_as_coordinate(old_mapping, mapping);
    std::string removed;
    if (old_mapping != mapping && may_name_mapping(old_mapping)) {
      const auto node = array_.find_node(old_mapping);
      if (node && node->is_own) removed = old_mapping;
    }
    if (!removed.empty()) change_.removed_variables.push_back(removed);
    if (crs_ == nullptr && array_.inherits_crs && array_.inherits_crs(attributes_, removed)) {
      attributes_["proj:code"] = nullptr;
    }
  }

  // xarray makes a coordinate of the grid mapping, with which rioxarray finds it, only if the
  // attribute `coordinates` names it as well.
  void name_as_coordinate(const std::string& old_mapping, const std::string& mapping) {
    const std::string* text = zarrcore::find_string(attributes_, cf::kCoordinates);
    const bool is_text = text != nullptr || !attributes_.contains(cf::kCoordinates);
    if ((old_mapping.empty() && mapping.empty()) || !is_text) return;
    std::vector<std::string> words = cf::words_in(attributes_, cf::kCoordinates);
    std::erase_if(words,
                  [&](const std::string& word) { return word == old_mapping && word != mapping; });
    if (!mapping.empty() && std::ranges::find(words, mapping) == words.end()) {
      words.push_back(mapping);
    }
    cf::set_words(attributes_, cf::kCoordinates, words);
  }

  // Returns the name of the variable.
  std::string write_grid_mapping(const std::string& old_name) {
    Json wanted = grid_mapping_attributes(*crs_);
    if (transform_) wanted["GeoTransform"] = format_geotransform(*transform_);
    if (!gcps_.empty()) wanted["gcps"] = format_gcps(gcps_);
    const auto is_usable = [&](const std::string& name) {
      if (!may_name_mapping(name)) return false;
      const auto node = array_.find_node(name);
      return !node || (node->is_own && name == old_name) || node->attributes == wanted;
    };
    // The variables of other arrays are not changed, but one with the same attributes is shared.
    std::string name = old_name.empty() ? "spatial_ref" : old_name;
    for (int number = 1; !is_usable(name); ++number) {
      name = "spatial_ref_" + (number == 1 ? array_.name : std::to_string(number));
    }
    attributes_[cf::kGridMapping] = name;
    const auto node = array_.find_node(name);
    if (!node || node->attributes != wanted) {
      change_.variables.push_back({name, {}, {}, std::move(wanted)});
    }
    return name;
  }

  bool may_name_mapping(const std::string& name) const {
    return array_.find_node && zarrcore::is_valid_segment(name) && name != array_.name &&
           name != array_.x.name && name != array_.y.name &&
           grid_mapping_variable({{cf::kGridMapping, name}}) == name;
  }

  GeoreferencingConvention convention_;
  const GeoreferencedArray& array_;
  const std::optional<GeoTransform>& transform_;
  const OGRSpatialReference* crs_;  // null when there is none
  std::span<const GroundControlPoint> gcps_;
  Json attributes_;  // the new attributes of the array
  GeoreferencingChange change_;
};

}  // namespace

GeoreferencingConvention georeferencing_convention(const Json& array_attributes) {
  if (find_member(array_attributes, "_CRS") != nullptr) return GeoreferencingConvention::gdal;
  if (find_member(array_attributes, cf::kGridMapping) != nullptr)
    return GeoreferencingConvention::cf;
  // The other two may have `spatial:` as well, and copies have the registration alone.
  constexpr const char* kSpatialProj[] = {"proj:", "spatial:transform", "spatial:bbox",
                                          "spatial:dimensions", "spatial:shape"};
  return std::ranges::any_of(kSpatialProj,
                             [&](const char* name) { return has_member(array_attributes, name); })
             ? GeoreferencingConvention::spatial_proj
             : GeoreferencingConvention::gdal;
}

GeoreferencingChange write_georeferencing(GeoreferencingConvention convention,
                                          const GeoreferencedArray& array,
                                          const WrittenGeoreferencing& written) {
  return GeoreferencingWriter(convention, array, written).write();
}

}  // namespace gdal_zarr
