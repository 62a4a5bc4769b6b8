// Georeferencing of the pixels of a raster: geotransforms, of coordinates or stated by attributes,
// and ground control points.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "driver/conventions/evidence.h"
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

// The attribute of a CF grid mapping variable, as GDAL and rioxarray write it: six numbers as text,
// in GDAL's order. Empty if it is absent or anything else.
//
//   "GeoTransform": "500000 10 0 5000000 0 -10"
std::optional<GeoTransform> parse_geotransform(const zarrcore::Json& grid_mapping_attributes);
std::string format_geotransform(const GeoTransform& transform);

struct FoundTransform {
  std::optional<GeoTransform> transform;
  std::string source = {};
  std::shared_ptr<const zarrcore::Json> attributes = {};  // that state it, if any do
};

// The transform that attributes state, as opposed to coordinates, in the order of a table:
// `spatial:transform`, `gdal:geotransform`, `proj:transform`, `_TRANSFORM`. Warns of a transform
// for another shape than X and Y have.
FoundTransform stated_transform(const Evidence& evidence, const RasterAxes& axes);

// Returns true if the array states that it has no transform (`spatial:transform` is null), so that
// transforms of groups and of its pyramid do not apply.
bool denies_transform(const Evidence& evidence);

// The transform from `spatial:bbox`. In some stores, the box has the centres of the outer cells
// instead of their edges: it is used only if exactly one of the two readings gives square cells of
// a round size, or else cells of a round size.
FoundTransform box_transform(const Evidence& evidence, const RasterAxes& axes);

// Returns true if both place cells of a raster alike, to a tenth of a cell.
bool agree(const GeoTransform& a, const GeoTransform& b, int columns, int rows);

// Ground control points, as rioxarray writes them into a grid mapping variable: a GeoJSON
// collection of points as text, whose properties state the position in the raster.
//
//   "gcps": "{\"type\": \"FeatureCollection\", \"features\": [{\"properties\": {\"id\": \"1\",
//            \"info\": \"\", \"row\": 0.0, \"col\": 10.5}, \"geometry\": {\"type\": \"Point\",
//            \"coordinates\": [11.5, 48.1, 500.0]}, \"type\": \"Feature\"}]}"

// In pixels and lines from the upper left corner, and in the units of a CRS.
struct GroundControlPoint {
  std::string id = {};
  std::string info = {};
  double pixel = 0;
  double line = 0;
  double x = 0;
  double y = 0;
  double z = 0;

  bool operator==(const GroundControlPoint&) const = default;
};

// The ground control points in the attributes; empty if there are none, or, after a warning, if
// they cannot be parsed. `name` is the variable's name, for the message.
std::vector<GroundControlPoint> parse_gcps(const zarrcore::Json& attributes,
                                           const std::string& name);

// The text of such an attribute.
std::string format_gcps(std::span<const GroundControlPoint> points);

}  // namespace gdal_zarr
