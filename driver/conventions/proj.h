// The `proj:` convention of Zarr attributes: the CRS of an array, or of all arrays of a group.
#pragma once

#include <ogr_spatialref.h>

#include <memory>

#include "zarrcore/base/json.h"

namespace gdal_zarr {

// `proj:code`, else `proj:wkt2`, else `proj:projjson`, else the older `proj:epsg`. Null when there
// is none of them; warns, and returns null, when what there is cannot be understood.
std::shared_ptr<OGRSpatialReference> crs_from_proj(const zarrcore::Json& attributes);

// Whether attributes say that there is no CRS: a `proj:code` of null, and no other member.
bool proj_denies_crs(const zarrcore::Json& attributes);

// Sets the members that state `crs`: its code alone if that says all, else WKT and PROJJSON.
// Throws zarrcore::Error when PROJ cannot express it.
void write_proj(zarrcore::Json& attributes, const OGRSpatialReference& crs);

}  // namespace gdal_zarr
