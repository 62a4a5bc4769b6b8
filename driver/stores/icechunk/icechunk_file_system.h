// GDAL's file system of the values of Icechunk repositories; see icechunk_path.h.
#pragma once

namespace gdal_zarr {

// Installs /vsiicechunk/. A name without a snapshot's id means what its branch or tag is at the
// time.
void install_icechunk_file_system();

}  // namespace gdal_zarr
