// Recognizing Zarr stores.
#pragma once

#include <optional>

#include "driver/gdal/compat.h"
#include "driver/stores/vsi/zarr_folder.h"

namespace gdal_zarr {

// GDAL's entry point; see GDALDriver::pfnIdentify.
int identify(GDALOpenInfo* info);

// Whether a path names a Zarr: a folder, a document of one, a packed store, or a connection string.
// Folders on the network are only examined when their name ends with .zarr, and `folder` is then
// what has been found.
bool is_zarr(GDALOpenInfo* info, std::optional<ProbedFolder>& folder);

// What identify() has found for this call of GDALOpenEx() in this thread, which opens what it has
// identified.
std::optional<ProbedFolder> take_identified(const GDALOpenInfo* info);

// Whether a path names a metadata document in an archive that would be opened as a raster.
bool is_zipped_document(const GDALOpenInfo* info);

}  // namespace gdal_zarr
