// The geotransform that coordinate variables of X and Y make when they are evenly spaced.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "zarrcore/base/json.h"

namespace gdal_zarr {

using GeoTransform = std::array<double, 6>;  // in GDAL's order

// Coordinates of more cells are neither read to find their spacing nor written.
inline constexpr std::uint64_t kMaxCoordinates = 8'000'000;

// Evenly spaced cells along one dimension.
struct RegularAxis {
  double first_centre;
  double step;  // from one centre to the next; negative when they fall
};

// The spacing of `centres`, or nothing when it is not even. A single cell has none.
std::optional<RegularAxis> find_regular_axis(std::span<const double> centres);

// The centres of `size` cells whose first begins at `origin` and that are `step` wide.
std::vector<double> cell_centres(double origin, double step, std::uint64_t size);

// Rising y gives a positive y step: the grid is south-up and is shown as it is.
GeoTransform make_geotransform(const RegularAxis& x, const RegularAxis& y);

// The attribute `GeoTransform` of a CF grid mapping variable, which GDAL and rioxarray write: six
// numbers as text, in GDAL's order. Nothing when there is none or it is not that.
std::optional<GeoTransform> parse_geotransform(const zarrcore::Json& grid_mapping_attributes);
std::string format_geotransform(const GeoTransform& transform);

}  // namespace gdal_zarr
