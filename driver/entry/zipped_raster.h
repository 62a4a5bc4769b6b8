// Rasters in archives whose files are listed and opened one by one, as QGIS does.
#pragma once

#include <optional>
#include <string>

#include "driver/stores/connection_string.h"

namespace gdal_zarr {

// The raster for which the metadata document `path` in an archive stands: one document for each
// raster, or all documents would be offered where rasters are to be chosen. It is the main document
// of a store with one raster, and in a store with several that of each of their arrays.
std::optional<ConnectionString> find_zipped_raster(const std::string& path);

}  // namespace gdal_zarr
