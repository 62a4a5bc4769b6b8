// Sentinel products in ESA's EOPF layout state their CRS once, among the attributes of the root.
#pragma once

#include <ogr_spatialref.h>

#include <memory>

#include "zarrcore/base/json.h"

namespace gdal_zarr {

// `stac_discovery.properties` with `proj:code` or `proj:epsg`, else `other_metadata` with
// `horizontal_CRS_code` or `reference_CRS`. Null when there is none of them that can be understood.
std::shared_ptr<OGRSpatialReference> crs_from_eopf(const zarrcore::Json& root_attributes);

}  // namespace gdal_zarr
