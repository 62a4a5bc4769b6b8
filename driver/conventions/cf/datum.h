// The attributes of a CF grid mapping that define its geographic CRS by names, ellipsoid and prime
// meridian (CF conventions, appendix F,
// https://cfconventions.org/cf-conventions/cf-conventions.html#appendix-grid-mappings).
//
//   geographic_crs_name = "NAD83"          reference_ellipsoid_name = "GRS 1980"
//   semi_major_axis = 6378137.0            inverse_flattening = 298.257222101
#pragma once

#include <ogr_spatialref.h>

#include "driver/conventions/cf/attributes.h"
#include "zarrcore/base/json.h"

namespace gdal_zarr::cf {

// Attributes that state neither a datum nor an ellipsoid mean WGS 84. Throws zarrcore::Error on
// attributes that contradict each other, and on names that are unknown.
OGRSpatialReference read_geographic_crs(const Attributes& attributes);

// Sets `key` to the name of `named`, a PROJJSON object or null, unless it has none or a placeholder
// such as "unknown".
void write_name(zarrcore::Json& attributes, const char* key, const zarrcore::Json* named);

// Sets the attributes that read_geographic_crs() reads. `projjson` is `crs` as PROJJSON.
void write_datum(zarrcore::Json& attributes, const OGRSpatialReference& crs,
                 const zarrcore::Json& projjson);

}  // namespace gdal_zarr::cf
