// Removing a raster that another one replaces.
#pragma once

#include <set>
#include <string>

#include "driver/multidim/session.h"

namespace gdal_zarr {

// Removes an array with its overviews, its masks, and the coordinates that no other array of its
// group uses. Throws zarrcore::Error.
void erase_raster(Session& session, const std::string& node_path);

// Returns true if the array holds the coordinates of an array in its group, or in a group below,
// that is none of `excluded`, which are node paths.
bool is_coordinate_of_others(Session& session, const std::string& node_path,
                             const std::set<std::string>& excluded);

}  // namespace gdal_zarr
