// The tiles and strips of a TIFF that GDAL has opened.
#pragma once

#include <gdal_priv.h>

#include <vector>

#include "driver/virtual/raster_blocks.h"

namespace gdal_zarr {

// Throws zarrcore::Error, which says why, when the dataset is not a TIFF or its blocks cannot be
// chunks. A strip at the bottom that is shorter than the others becomes a value of the references.
// The dataset must outlive the result.
RasterBlocks find_tiff_blocks(GDALDataset& dataset, BlockCheck check = BlockCheck::first);

// The same for its overview `index` (counted from 0), in the same file or in that beside it.
RasterBlocks find_tiff_overview(GDALDataset& dataset, int index);

}  // namespace gdal_zarr
