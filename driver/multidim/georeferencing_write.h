// Writing the georeferencing of a raster to its store: attributes, coordinate variables, the grid
// mapping.
#pragma once

#include "driver/conventions/write_georeferencing.h"
#include "driver/multidim/raster_view.h"

namespace gdal_zarr {

// In the convention of the arrays. Throws zarrcore::Error when the store cannot be written or
// cannot express it.
void store_georeferencing(const RasterView& view, const WrittenGeoreferencing& written);

// Writes the coordinates of a dimension of `coarse`, the level of `fine` at `factor`, beside it:
// coarser_coordinates(). Nothing is written when `fine` has none, or when other arrays beside
// `coarse` have that dimension already. Throws zarrcore::Error.
void store_coarser_coordinates(const Array& fine, const Array& coarse, std::size_t axis,
                               int factor);

}  // namespace gdal_zarr
