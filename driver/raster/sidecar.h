// Copying what Zarr cannot store. GDAL keeps it in the sidecar, an .aux.xml file beside the store.
#pragma once

#include <gdal_priv.h>

namespace gdal_zarr {

// Ground control points, and metadata of other domains than the default one.
void copy_unstored(GDALDataset& source, GDALDataset& destination);

// Metadata, colour table, names of categories, attribute table, and a histogram that is kept.
void copy_unstored(GDALRasterBand& source, GDALRasterBand& destination);

}  // namespace gdal_zarr
