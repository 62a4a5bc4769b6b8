// Whether the libgdal that loads the plugin is the one that the plugin is linked to. After an
// upgrade both can be installed, and a program such as Python then has both in its process: the
// plugin would register its driver with the one that nobody uses.
#pragma once

namespace gdal_zarr {

// `address` is in the caller, a return address. Reports an Error through the caller's GDAL, which
// names the versions of both, and returns false when they differ.
bool is_called_by_our_gdal(void* address);

}  // namespace gdal_zarr
