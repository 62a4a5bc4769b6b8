// The `proj:` convention (https://github.com/zarr-conventions/proj): the CRS of an array, or
// of all arrays of a group.
//
//   "proj:code": "EPSG:32633"
//   "proj:wkt2": "PROJCRS[…]", "proj:projjson": {…}
//
// Drafts of it, and STAC, from which it comes, have a transform as well:
//
//   "geo": {"proj": {"code": "EPSG:32633", "transform": [10, 0, 500000, 0, -10, 5000000]}}
#pragma once

#include <ogr_spatialref.h>

#include <memory>
#include <optional>

#include "driver/conventions/geotransform.h"
#include "zarrcore/base/json.h"

namespace gdal_zarr {

// `proj:code`, else `proj:wkt2`, else `proj:projjson`, else the older `proj:epsg`. Null when there
// is none of them; warns, and returns null, when they are not understood.
std::shared_ptr<OGRSpatialReference> crs_from_proj(const zarrcore::Json& attributes);

// `proj:transform`: [a b c d e f], as in `spatial:transform`. Empty if it is absent or anything
// else.
std::optional<GeoTransform> proj_transform(const zarrcore::Json& attributes);

// Whether attributes state that there is no CRS: a `proj:code` of null and no other member.
bool proj_denies_crs(const zarrcore::Json& attributes);

// Sets the members for `crs`: only its code if that identifies it, else WKT and PROJJSON.
// Throws zarrcore::Error when PROJ cannot express it.
void write_proj(zarrcore::Json& attributes, const OGRSpatialReference& crs);

}  // namespace gdal_zarr
