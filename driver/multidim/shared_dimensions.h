// Dimensions X and Y that the rasters of a store share.
#pragma once

#include <gdal_priv.h>

#include <memory>
#include <string>

#include "driver/conventions/geotransform.h"
#include "driver/multidim/raster_view.h"

namespace gdal_zarr {

// The dimension of this name that an array in `group` can have: that of the group or of the nearest
// group above. Null if there is none.
std::shared_ptr<GDALDimension> find_visible_dimension(Session& session, std::string group,
                                                      const std::string& name);

// Whether the coordinates along a dimension are the centres of cells of length `step` from `origin`
// on.
bool has_cells_from(const GDALDimension& dimension, double origin, double step);

// Gives new arrays the existing dimensions that they can share now that their position is known:
// those of Array::shareable_names() with the same coordinates. Throws zarrcore::Error.
void share_dimensions(const RasterView& view, const GeoTransform& transform);

}  // namespace gdal_zarr
