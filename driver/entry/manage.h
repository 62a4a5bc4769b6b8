// Deleting, renaming and copying whole stores, as `gdalmanage` does.
#pragma once

#include <string>

#include "driver/gdal/compat.h"

namespace gdal_zarr {

// GDAL's entry points; see GDALDriver::pfnDelete, pfnRename and pfnCopyFiles. They act on the path
// of a store, a folder or a file, never on an array in one (ZARR:"path":/array) or a file in its
// folder, and include the files beside a store.
CPLErr delete_store(const char* name);
CPLErr rename_store(const char* new_name, const char* old_name);
CPLErr copy_store(const char* new_name, const char* old_name);

// Removes the folder or file of a store, but no file beside it. Throws zarrcore::Error.
void remove_store(const std::string& path);

}  // namespace gdal_zarr
