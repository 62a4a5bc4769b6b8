// Recognizing Zarr stores.
#pragma once

#include "driver/gdal/compat.h"

namespace gdal_zarr {

// GDAL's entry point; see GDALDriver::pfnIdentify.
int identify(GDALOpenInfo* info);

// Whether a path names a Zarr: a folder, a document of one, a packed store, or a connection string.
// Folders on the network are only examined when their name ends with .zarr.
bool is_zarr(GDALOpenInfo* info);

// Whether a path names a metadata document in an archive that would be opened as a raster.
bool is_zipped_document(const GDALOpenInfo* info);

}  // namespace gdal_zarr
