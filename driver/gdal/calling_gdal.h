// Whether the libgdal that loads the plugin is the one that the plugin is built for and linked to.
// After an upgrade both can be installed, and a program then has both in its process. The plugin
// would register its driver with the one that nobody uses, or call functions that have changed.
#pragma once

namespace gdal_zarr {

// `address` is in the caller, a return address. If they differ, it reports a Warning through the
// caller's GDAL, which names the versions of both, and returns false. Not an Error, which the
// programs that turn errors into exceptions would take for a failure to load any driver.
bool is_called_by_our_gdal(void* address);

}  // namespace gdal_zarr
