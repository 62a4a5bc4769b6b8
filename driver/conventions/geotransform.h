// The geotransform that evenly spaced coordinate variables of X and Y imply, and the one that GDAL
// and rioxarray store as text in a CF grid mapping variable.
//
//   "GeoTransform": "500000 10 0 5000000 0 -10"
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "zarrcore/base/json.h"

namespace gdal_zarr {

using GeoTransform = std::array<double, 6>;  // in GDAL's order

// Coordinates of more cells are neither read, to find their spacing, nor written.
inline constexpr std::uint64_t kMaxCoordinates = 8'000'000;

// Evenly spaced cells along one dimension.
struct RegularAxis {
  double first_centre;
  double step;  // from one centre to the next; negative if they decrease
};

// Empty if the spacing of `centres` is not even, and for a single cell.
std::optional<RegularAxis> find_regular_axis(std::span<const double> centres);

// The same from the edges of the cells, two for each in any order, where they are contiguous and
// even and each contains its coordinate: coordinates need not be in the middle then. Else, or
// without bounds, from the coordinates. A single cell has the direction of `sign`.
std::optional<RegularAxis> find_cells(std::span<const double> coordinates,
                                      std::span<const double> bounds, double sign);

// The centres of `size` cells of width `step`. The first cell begins at `origin`.
std::vector<double> cell_centres(double origin, double step, std::uint64_t size);

// Coordinates along a dimension that has been shrunk by `factor` to `size` cells, each of which
// replaces a block of cells with the given `centres`: the centres of the blocks where the spacing
// is even, else the coordinates of the cells in their middle. The last block may be incomplete.
std::vector<double> coarser_coordinates(std::span<const double> centres, int factor,
                                        std::uint64_t size);

// Increasing y gives a positive y step: such a grid is south-up and is not flipped.
GeoTransform make_geotransform(const RegularAxis& x, const RegularAxis& y);

// Reads the attribute `GeoTransform` of a CF grid mapping variable: six numbers as text, in GDAL's
// order. Empty if it is absent or anything else.
std::optional<GeoTransform> parse_geotransform(const zarrcore::Json& grid_mapping_attributes);
std::string format_geotransform(const GeoTransform& transform);

// Reads the attribute `gdal:geotransform` of an array: six numbers in GDAL's order. GDAL's own view
// of an array as a raster honours it in every format. Empty if it is absent or anything else.
std::optional<GeoTransform> own_geotransform(const zarrcore::Json& array_attributes);

// Whether both place cells of a raster alike, to a tenth of a cell.
bool agree(const GeoTransform& a, const GeoTransform& b, int columns, int rows);

}  // namespace gdal_zarr
