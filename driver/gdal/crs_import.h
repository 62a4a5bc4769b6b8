// Making a CRS of what attributes hold, without GDAL's own errors: whoever asks says what was
// wrong.
#pragma once

#include <ogr_spatialref.h>

#include <memory>
#include <string>

#include "zarrcore/base/json.h"

namespace gdal_zarr {

// An authority's code ("EPSG:4326"), a URN or URL of OGC, WKT or PROJJSON: nothing that leads to a
// file or the network. Null when it is none of these, or is not understood.
std::shared_ptr<OGRSpatialReference> import_crs(const std::string& text);

// The same of a JSON value: a text, or an object of PROJJSON.
std::shared_ptr<OGRSpatialReference> import_crs(const zarrcore::Json& value);

}  // namespace gdal_zarr
