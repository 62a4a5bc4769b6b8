// Makes CRSs from the values of attributes. Raises no GDAL errors: the caller reports the problem.
#pragma once

#include <ogr_spatialref.h>

#include <memory>
#include <string>

#include "zarrcore/base/json.h"

namespace gdal_zarr {

// Reads an authority's code ("EPSG:4326"), a URN or URL of OGC, WKT, PROJJSON or a PROJ string,
// none of which make GDAL open a file or a URL. Null when `text` is none of these or is not
// understood.
std::shared_ptr<OGRSpatialReference> import_crs(const std::string& text);

// The same for a JSON value: a string, a PROJJSON object, or a code of EPSG as an integer.
std::shared_ptr<OGRSpatialReference> import_crs(const zarrcore::Json& value);

// Throws zarrcore::Error, with GDAL's reason if there is one, when a call that makes or changes a
// CRS failed.
void check_crs(OGRErr result);

}  // namespace gdal_zarr
