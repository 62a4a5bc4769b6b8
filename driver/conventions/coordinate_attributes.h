// Attributes of the coordinate variables of X and Y, by which CF, and axis.h, know them.
#pragma once

#include <ogr_spatialref.h>

#include "zarrcore/base/json.h"

namespace gdal_zarr {

enum class CoordinateAxis : std::uint8_t { x, y };

// `axis`, `long_name` and, as far as the CRS (may be null) says it, `standard_name` and `units`.
zarrcore::Json coordinate_attributes(CoordinateAxis axis, const OGRSpatialReference* crs);

}  // namespace gdal_zarr
