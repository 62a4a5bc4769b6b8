// CRSs from texts, such as the values of attributes, and texts of CRSs. Raises no GDAL errors: the
// caller reports the problem.
#pragma once

#include <ogr_spatialref.h>

#include <memory>
#include <string>

#include "zarrcore/base/json.h"

namespace gdal_zarr {

// Reads an authority's code ("EPSG:4326"), a URN or URL of OGC, WKT, PROJJSON or a PROJ string.
// GDAL opens no file or URL for any of these. Null if `text` is in no such form or is not
// understood.
std::shared_ptr<OGRSpatialReference> import_crs(const std::string& text);

// The same for a JSON value: a string, a PROJJSON object, or a code of EPSG as an integer.
std::shared_ptr<OGRSpatialReference> import_crs(const zarrcore::Json& value);

// Throws zarrcore::Error, with GDAL's reason if there is one, when a call that makes or changes a
// CRS failed.
void check_crs(OGRErr result);

// These throw zarrcore::Error when PROJ cannot express the CRS, and raise no GDAL error.

// WKT 2 of 2019. It has no place for a coordinate epoch.
std::string export_wkt(const OGRSpatialReference& crs);

// The same, as coordinate metadata if the CRS has a coordinate epoch and this PROJ can read that.
// Older versions of PROJ cannot: a store needs the CRS in another representation as well.
std::string export_wkt_with_epoch(const OGRSpatialReference& crs);

// PROJJSON, which has no place for a coordinate epoch either.
zarrcore::Json export_projjson(const OGRSpatialReference& crs);

// A PROJ string, which cannot express all of many CRSs; empty if the CRS has none.
std::string proj4_text(const OGRSpatialReference& crs);

// "EPSG:32633", if that identifies the CRS; empty if the CRS has no code, was changed after it got
// one, or has more to it (a transformation to another datum, a coordinate epoch). The order of its
// axes is ignored.
std::string authority_code(const OGRSpatialReference& crs);

}  // namespace gdal_zarr
