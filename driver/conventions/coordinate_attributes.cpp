#include "driver/conventions/coordinate_attributes.h"

#include <cmath>
#include <numbers>
#include <string>

#include "driver/conventions/cf/grid_mapping.h"

namespace gdal_zarr {
namespace {

using zarrcore::Json;

struct Words {
  const char* standard_name;  // null: CF has none
  const char* long_name;
};

// By kind of CRS, X and Y.
constexpr Words kUnknown[] = {{nullptr, "x coordinate"}, {nullptr, "y coordinate"}};
constexpr Words kGeographic[] = {{"longitude", "longitude"}, {"latitude", "latitude"}};
constexpr Words kRotated[] = {{"grid_longitude", "longitude in the rotated grid"},
                              {"grid_latitude", "latitude in the rotated grid"}};
constexpr Words kProjected[] = {{"projection_x_coordinate", "x coordinate of projection"},
                                {"projection_y_coordinate", "y coordinate of projection"}};

// CF's words for degrees; of other angles how many they are.
std::string angular_unit(const OGRSpatialReference& crs, const char* degrees) {
  const double size = crs.GetAngularUnits() * 180 / std::numbers::pi;
  return std::abs(size - 1) < 1e-9 ? degrees : zarrcore::dump_json(size) + " degrees";
}

}  // namespace

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

}  // namespace gdal_zarr
