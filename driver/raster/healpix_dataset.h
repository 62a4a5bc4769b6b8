// An array of cells of a HEALPix grid, shown as a raster of longitude and latitude: each pixel has
// the value of the cell that contains its centre. For programs that draw rasters.
#pragma once

#include <gdal_priv.h>

#include <memory>
#include <vector>

#include "driver/raster/raster_dataset.h"

namespace gdal_zarr {

// A pixel has 22.5/2^level degrees, so that no cell is left out. `slice` has an index for each
// dimension except the one of the cells; if it is empty, these dimensions become bands. `name` and
// `subdataset` are as for RasterDataset. Throws zarrcore::Error if the array has no such grid, or
// is too large. The caller owns the dataset.
GDALDataset* open_on_the_sphere(const std::shared_ptr<Array>& array,
                                const std::vector<std::uint64_t>& slice, const std::string& name,
                                const std::string& subdataset);

}  // namespace gdal_zarr
