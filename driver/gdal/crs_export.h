// Text representations of a CRS, which crs_import.h reads.
#pragma once

#include <ogr_spatialref.h>

#include <string>

#include "zarrcore/base/json.h"

namespace gdal_zarr {

// These throw zarrcore::Error when PROJ cannot express the CRS, and raise no GDAL error.

// WKT 2 of 2019. It has no place for a coordinate epoch.
std::string export_wkt(const OGRSpatialReference& crs);

// The same, as coordinate metadata if the CRS has a coordinate epoch and this PROJ can read that.
// Older versions of PROJ cannot: a store needs the CRS in another representation as well.
std::string export_wkt_with_epoch(const OGRSpatialReference& crs);

// PROJJSON, which has no place for a coordinate epoch either.
zarrcore::Json export_projjson(const OGRSpatialReference& crs);

// A PROJ string, which loses parts of many CRSs; empty where there is none.
std::string proj4_text(const OGRSpatialReference& crs);

// "EPSG:32633", if that identifies the CRS; empty if the CRS has no code, was changed after it got
// one, or has more to it (a transformation to another datum, a coordinate epoch). The order of its
// axes is ignored.
std::string authority_code(const OGRSpatialReference& crs);

}  // namespace gdal_zarr
