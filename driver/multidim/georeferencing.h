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

// What may say where an array lies. `dimensions` are those of the array, of its rank. The result
// refers to the array, and is for use at once: the store may change.
Evidence gather_evidence(const std::shared_ptr<const Array>& array,
                         const std::vector<std::shared_ptr<GDALDimension>>& dimensions);

// All elements of a variable of one or two dimensions, unpacked; empty when it does not hold
// numbers, cannot be read, or is too long.
std::vector<double> read_unpacked(const GDALMDArray& variable);
// The same of a variable of one dimension, empty for others.
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

// What CRS and position were taken from; empty without both.
CPLStringList source_domain(const Position& position);

// Writes the georeferencing of a raster in the convention of its arrays. New arrays get the
// existing dimensions that they can share now that their position is known: those of
// Array::shareable_names() with the same coordinates. Throws zarrcore::Error when the store cannot
// be written or cannot express it.
void store_georeferencing(const RasterView& view, const WrittenGeoreferencing& written);

// Writes the coordinates of a dimension of `coarse`, the level of `fine` at `factor`, beside it:
// coarser_coordinates(). Nothing is written when `fine` has none, or when other arrays beside
// `coarse` have that dimension already. Throws zarrcore::Error.
void store_coarser_coordinates(const Array& fine, const Array& coarse, std::size_t axis,
                               int factor);

// The dimension of this name that an array in `group` can have: that of the group or of the nearest
// group above. Null if there is none.
std::shared_ptr<GDALDimension> find_visible_dimension(Session& session, std::string group,
                                                      const std::string& name);

// Returns true if the coordinates along a dimension are the centres of cells of length `step` from
// `origin` on.
bool has_cells_from(const GDALDimension& dimension, double origin, double step);

}  // namespace gdal_zarr
