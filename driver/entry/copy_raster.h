// Copying a raster into a new one.
#pragma once

#include "driver/entry/raster_creation.h"
#include "driver/raster/raster_dataset.h"

namespace gdal_zarr {

// What a copy of `source` is created as. Throws zarrcore::Error when its bands cannot share a type
// and `is_strict`.
NewRaster new_raster_like(GDALDataset& source, bool is_strict);

// Copies all that GDAL knows of a raster: georeferencing, nodata, metadata, colours, then pixels,
// in an order that completes chunks and shards one after the other, then masks. With
// `has_overviews`, builds overviews at the end. Returns false after a CE_Failure, which is also
// reported when the user stops the copy; when it returns true, the copy is in the store. Throws
// zarrcore::Error.
bool copy_raster(GDALDataset& source, RasterDataset& destination, bool is_strict,
                 bool has_overviews, GDALProgressFunc progress, void* progress_data);

}  // namespace gdal_zarr
