// Sentinel products in ESA's EOPF layout (https://zarr.eopf.copernicus.eu) state
// their CRS once, in the attributes of the root.
//
//   "stac_discovery": {"properties": {"proj:epsg": 32633}}
//   "other_metadata": {"horizontal_CRS_code": "EPSG:32633"}
#pragma once

#include <ogr_spatialref.h>

#include <memory>

#include "zarrcore/base/json.h"

namespace gdal_zarr {

// `stac_discovery.properties` with `proj:code` or `proj:epsg`, else `other_metadata` with
// `horizontal_CRS_code` or `reference_CRS`. Null if none of them is understood.
std::shared_ptr<OGRSpatialReference> crs_from_eopf(const zarrcore::Json& root_attributes);

}  // namespace gdal_zarr
