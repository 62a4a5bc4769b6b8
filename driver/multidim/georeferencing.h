// Where arrays and rasters of a store lie: the evidence in the store (evidence.cpp), the position
// that find_position() decides from it (georeferencing.cpp), and writing it: attributes, coordinate
// variables, the grid mapping (georeferencing_write.cpp).
#pragma once

#include <cpl_string.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "driver/conventions/evidence.h"
#include "driver/conventions/geotransform.h"
#include "driver/conventions/position.h"
#include "driver/conventions/write_georeferencing.h"
#include "driver/multidim/array.h"
#include "driver/multidim/raster_view.h"

namespace gdal_zarr {

// Everything that may state the position of an array. `dimensions` are the array's, one for each
// axis. The result refers to the array, and is for immediate use: the store may change.
Evidence gather_evidence(const std::shared_ptr<const Array>& array,
                         const std::vector<std::shared_ptr<GDALDimension>>& dimensions);

// All elements of a variable of one or two dimensions, unpacked; empty when it does not hold
// numbers, cannot be read, or is too long.
std::vector<double> read_unpacked(const GDALMDArray& variable);
// The same for a variable of one dimension; empty for other variables.
std::vector<double> read_values(const GDALMDArray& variable);

// The corners of the last two dimensions, at `slice` of those before; unpacked, row by row. Empty
// when they cannot be read.
std::vector<double> read_corners(const Array& variable, std::vector<std::uint64_t> slice);

// Neither transform nor geolocation for a raster of fewer than two dimensions.
Position find_position(const RasterView& view);

// GDAL's metadata domain GEOLOCATION; empty without a geolocation. Packed variables are named as
// virtual rasters that unpack them.
CPLStringList geolocation_domain(const RasterView& view, const Position& position);

// The ground control points of Sentinel-1 products (EOPF): of an array below `measurements`, those
// in the group `conditions/gcp` beside it, in longitudes and latitudes of WGS 84. Empty without
// any.
std::vector<GroundControlPoint> read_gcp_grid(const Array& array);

// The sources of CRS and position, as a metadata domain; empty if the array has neither.
CPLStringList source_domain(const Position& position);

// Writes the georeferencing of a raster in the convention of its arrays. Now that the position of
// new arrays is known, they get the existing dimensions that they can share: the ones in
// Array::shareable_names() that have the same coordinates. Throws zarrcore::Error when the store
// cannot be written or cannot express it.
void store_georeferencing(const RasterView& view, const WrittenGeoreferencing& written);

// Writes the coordinates of a dimension of `coarse`, the level of `fine` at `factor`, beside it:
// coarser_coordinates(). Nothing is written if `fine` has no coordinates, or if other arrays beside
// `coarse` already have that dimension. Throws zarrcore::Error.
void store_coarser_coordinates(const Array& fine, const Array& coarse, std::size_t axis,
                               int factor);

// The dimension of this name that an array in `group` can have: the group's own, else the nearest
// one in a group above. Null if there is no such dimension.
std::shared_ptr<GDALDimension> find_visible_dimension(Session& session, const std::string& group,
                                                      const std::string& name);

// Returns true if the coordinates along a dimension are the centres of cells of length `step` from
// `origin` on.
bool has_cells_from(const GDALDimension& dimension, double origin, double step);

}  // namespace gdal_zarr
