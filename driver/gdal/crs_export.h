// Texts of a CRS, which crs_import.h reads back.
#pragma once

#include <ogr_spatialref.h>

#include <string>

#include "zarrcore/base/json.h"

namespace gdal_zarr {

// These throw zarrcore::Error when PROJ cannot express the CRS, and raise no GDAL error.

// WKT 2 of 2019. It has no place for a coordinate epoch.
std::string export_wkt(const OGRSpatialReference& crs);

// The same, as coordinate metadata when the CRS has a coordinate epoch. Only if this PROJ can read
// that: an older one, which comes to such a store, has to find the CRS in another spelling, too.
std::string export_wkt_with_epoch(const OGRSpatialReference& crs);

// PROJJSON, which has no place for a coordinate epoch either.
zarrcore::Json export_projjson(const OGRSpatialReference& crs);

// "EPSG:32633", when that says all of the CRS; empty when the CRS has no code, or was changed
// since it got it, or holds more (a transformation to another datum, a coordinate epoch). The order
// of its axes does not matter.
std::string authority_code(const OGRSpatialReference& crs);

}  // namespace gdal_zarr
