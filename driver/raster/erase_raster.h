// Removing a raster that another one replaces.
#pragma once

#include <string>

#include "driver/multidim/session.h"

namespace gdal_zarr {

// Removes an array with its overviews, its masks, and the coordinates that no other array of its
// group uses. Throws zarrcore::Error.
void erase_raster(Session& session, const std::string& node_path);

}  // namespace gdal_zarr
