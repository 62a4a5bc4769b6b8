// Mosaics and stacks: the blocks of the TIFF files of which a VRT consists.
#pragma once

#include <gdal_priv.h>

#include "driver/virtual/raster_blocks.h"

namespace gdal_zarr {

// Throws zarrcore::Error, which says why, when the dataset is not a VRT whose sources are TIFF
// files with blocks of one kind, each in its place in the grid of the mosaic. Files are opened one
// after the other, when they are visited; those after the first are checked only then. With
// `copies_others`, the blocks of sources that are not like the first one are copied.
RasterBlocks find_vrt_blocks(GDALDataset& dataset, bool copies_others);

bool is_vrt(GDALDataset& dataset);

}  // namespace gdal_zarr
