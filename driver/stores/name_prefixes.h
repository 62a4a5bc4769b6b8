// Names such as ICECHUNK:path as GDAL's file functions see them.
#pragma once

namespace gdal_zarr {

// Makes every name with such a prefix look like a folder to GDAL, without any request. Older
// versions of GDAL delete an existing dataset before they create one of the same name, unless it is
// a folder: thus they delete a repository only if the user asks for it.
void install_name_prefixes();

}  // namespace gdal_zarr
