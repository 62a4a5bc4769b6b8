// GDAL's own attributes, and the attributes that users see.
#pragma once

#include <ogr_spatialref.h>

#include "zarrcore/base/json.h"

namespace gdal_zarr {

// GDAL's attribute `_CRS`, and the attribute `crs` that is written with it.
//
//   "_CRS": {"url": "http://www.opengis.net/def/crs/EPSG/0/32633", "wkt": "…", "projjson": {…}}
//   "crs": "EPSG:32633"
//
// A CRS with a coordinate epoch has no url, but a member "epoch", which only this driver reads.
// Other conventions cannot express an epoch, so arrays have it as the attribute
// "gdal:coordinate_epoch". GDAL reads `_CRS`; all versions of rioxarray and odc-geo find `crs` in
// arrays without a grid mapping. A grid mapping is not written, because it would be an array, which
// GDAL's built-in driver lists as another raster, and because an array at the root of a store
// cannot have one beside it.

// Sets both attributes. `crs` becomes an EPSG code, or WKT if the CRS has none. Throws
// zarrcore::Error when PROJ cannot express the CRS.
void write_gdal_crs(zarrcore::Json& attributes, const OGRSpatialReference& crs);

// The attribute of an array with the coordinate epoch of a CRS that is stored by another
// convention.
inline constexpr const char* kCoordinateEpoch = "gdal:coordinate_epoch";
// Sets the coordinate epoch that `attributes` state, if the CRS has none.
void adopt_epoch(OGRSpatialReference& crs, const zarrcore::Json& attributes);

// Returns true if `attributes` have both, and `crs` is equivalent to `_CRS`, as written by
// write_gdal_crs().
bool crs_repeats_gdals(const zarrcore::Json& attributes);

// An attribute of a raster's arrays: a list of metadata items, "NAME=value", whose names have
// another meaning as attributes.
inline constexpr const char* kPlainMetadata = "gdal:metadata";

// GDAL's own attribute: one name, or one for each band.
inline constexpr const char* kColorInterpretation = "COLOR_INTERPRETATION";
// An attribute of arrays with the values in which their bands differ (raster/band_values.h); of a
// group that holds an array for each band of a raster, the list of their names.
inline constexpr const char* kBandsAttribute = "gdal:bands";

// The attributes that users see: without those that GDAL's objects express in other ways, and that
// would be wrong in a copy of a part of the array: of CRS, geotransform and overviews (`_CRS` and a
// `crs` that repeats it, `proj:…`, `spatial:…` except `spatial:registration`, `multiscales`, the
// list of conventions, plain metadata), and without netCDF-C's own.
zarrcore::Json shown_attributes(const zarrcore::Json& attributes);

}  // namespace gdal_zarr
