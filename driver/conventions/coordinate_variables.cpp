#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "driver/conventions/cf/grid_mapping.h"
#include "driver/conventions/write_georeferencing.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {
namespace {

using zarrcore::Json;

enum class CoordinateAxis : std::uint8_t { x, y };

struct Words {
  const char* standard_name;  // null: CF has none
  const char* long_name;
};

// For X and Y, by kind of CRS.
constexpr Words kUnknown[] = {{nullptr, "x coordinate"}, {nullptr, "y coordinate"}};
constexpr Words kGeographic[] = {{"longitude", "longitude"}, {"latitude", "latitude"}};
constexpr Words kRotated[] = {{"grid_longitude", "longitude in the rotated grid"},
                              {"grid_latitude", "latitude in the rotated grid"}};
constexpr Words kProjected[] = {{"projection_x_coordinate", "x coordinate of projection"},
                                {"projection_y_coordinate", "y coordinate of projection"}};

// CF's words for degrees; other angles are stated as a number of degrees.
std::string angular_unit(const OGRSpatialReference& crs, const char* degrees) {
  const double size = crs.GetAngularUnits() * 180 / std::numbers::pi;
  return std::abs(size - 1) < 1e-9 ? degrees : zarrcore::dump_json(size) + " degrees";
}

// `axis`, `long_name` and, if the CRS (may be null) implies them, `standard_name` and `units`.
Json coordinate_attributes(CoordinateAxis axis, const OGRSpatialReference* crs) {
  const bool is_x = axis == CoordinateAxis::x;
  const Words* words = kUnknown;
  std::string units;
  if (crs != nullptr && crs->IsProjected()) {
    words = kProjected;
    units = linear_unit(*crs);
  } else if (crs != nullptr && crs->IsDerivedGeographic()) {
    words = kRotated;
    units = angular_unit(*crs, "degrees");
  } else if (crs != nullptr && crs->IsGeographic()) {
    words = kGeographic;
    units = angular_unit(*crs, is_x ? "degrees_east" : "degrees_north");
  } else if (crs != nullptr && crs->IsLocal()) {
    units = linear_unit(*crs);
  }
  const auto& [standard_name, long_name] = words[is_x ? 0 : 1];
  Json attributes = {{"axis", is_x ? "X" : "Y"}, {"long_name", long_name}};
  if (standard_name != nullptr) attributes["standard_name"] = standard_name;
  if (!units.empty()) attributes["units"] = units;
  return attributes;
}

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

class CoordinateWriter {
 public:
  CoordinateWriter(const GeoreferencedArray& array, const std::optional<GeoTransform>& transform,
                   const OGRSpatialReference* crs, GeoreferencingChange& change)
      : array_(array), transform_(transform), crs_(crs), change_(change) {}

  bool write() {
    Axis x = make_axis(array_.x, CoordinateAxis::x);
    Axis y = make_axis(array_.y, CoordinateAxis::y);
    if (!transform_) {
      keep_uneven(x, y);
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

 private:
  struct Axis {
    const RasterDimension& dimension;
    CoordinateAxis which;
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

  // Without a transform, coordinates must not imply one.
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
    if (axis.is_stated()) {
      keep(axis);
      return dimension.size > 1;
    }
    const Json* own = axis.own_attributes();
    Json attributes = own != nullptr ? *own : Json::object();
    for (const char* name : kOfValues) attributes.erase(name);
    attributes.update(coordinate_attributes(axis.which, crs_));
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
    const Json wanted = coordinate_attributes(axis.which, crs_);
    for (const auto& [name, value] : wanted.items()) {
      if (name != "long_name") attributes[name] = value;
    }
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

  const GeoreferencedArray& array_;
  const std::optional<GeoTransform>& transform_;
  const OGRSpatialReference* crs_;
  GeoreferencingChange& change_;
};

}  // namespace

bool write_coordinates(const GeoreferencedArray& array,
                       const std::optional<GeoTransform>& transform, const OGRSpatialReference* crs,
                       GeoreferencingChange& change) {
  return CoordinateWriter(array, transform, crs, change).write();
}

}  // namespace gdal_zarr
