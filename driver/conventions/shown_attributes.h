// Which attributes a user gets to see among the others: not those that GDAL's objects tell by other
// means, and that would be wrong after a copy of a part.
#pragma once

#include "zarrcore/base/json.h"

namespace gdal_zarr {

// `attributes` without those of CRS, position and overviews (`_CRS`, `proj:…`, `spatial:…`,
// `multiscales`, the list of conventions), and without netCDF-C's own.
zarrcore::Json shown_attributes(const zarrcore::Json& attributes);

}  // namespace gdal_zarr
