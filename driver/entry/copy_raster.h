// Filling a new raster with what another one holds.
#pragma once

#include "driver/raster/raster_dataset.h"

namespace gdal_zarr {

// Copies pixels in the order in which chunks and shards become complete one after the other, and
// before them all else that GDAL knows of a raster: georeferencing, nodata, metadata, colours,
// masks. `has_overviews`: whether overviews are built at the end. Returns false after a CE_Failure;
// the user's own stop is one. All is in the store when it returns true. Throws zarrcore::Error.
bool copy_raster(GDALDataset& source, RasterDataset& destination, bool is_strict,
                 bool has_overviews, GDALProgressFunc progress, void* progress_data);

}  // namespace gdal_zarr
