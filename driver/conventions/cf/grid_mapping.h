// CF grid mappings (CF conventions 1.11, section 5.6 and appendix F,
// https://cfconventions.org/cf-conventions/cf-conventions.html#appendix-grid-mappings): the CRS in
// the attributes of a grid mapping variable, which an array names. Read and written in the same way
// with every GDAL version.
//
//   grid_mapping_name = "transverse_mercator"   longitude_of_central_meridian = 15.0
//   scale_factor_at_central_meridian = 0.9996   latitude_of_projection_origin = 0.0   …
#pragma once

#include <ogr_spatialref.h>

#include <memory>
#include <string>

#include "zarrcore/base/json.h"

namespace gdal_zarr {

namespace cf {

// Attributes of which each states a CRS: WKT, or another text that import_crs() reads; and those
// that count where CF's parameters are absent.
inline constexpr const char* kWktAttributes[] = {"crs_wkt", "spatial_ref"};
inline constexpr const char* kCrsAttributes[] = {
    "wkt",   "epsg_code",    "epsg",      "spatial_epsg", "srid", "esri_pe_string",
    "proj4", "proj4_string", "proj4text", "proj4_params"};

}  // namespace cf

// `attributes` belong to the grid mapping variable. WKT, or another text that import_crs() reads,
// in `crs_wkt`, else in `spatial_ref`, is the CRS, in its own unit, if it can be parsed; otherwise
// `grid_mapping_name` and its parameters define it, and without these one of `kCrsAttributes`. A
// number, also as text, is an EPSG code. Absent false eastings and northings mean 0, scale factors
// 1, the last rotation of a rotated pole (`north_pole_grid_longitude`) 0, and a satellite sweeps
// about y. Other parameters are required, unless the rest implies them (the pole's sign, say).
// Attributes without datum and ellipsoid mean WGS 84.
//
// `linear_unit`: the `units` of the projection coordinate variables ("m", "km", "1000 m"…; empty
// for metres), which is the unit of false easting and northing and of a CRS made from parameters.
// For a geostationary grid in "rad" (or "microradian"…) it is metres: the coordinates are to be
// multiplied by the height of the satellite.
//
// Returns null, and sets `*problem`, when the attributes do not describe a CRS: the grid mapping is
// unknown, a parameter is missing or of the wrong kind, a unit is not a length. Throws only
// std::bad_alloc and raises no GDAL error.
//
// Axes of a CRS made from parameters: easting, then northing if it is projected (in polar ones both
// point south, or both north); latitude, then longitude if it is geographic, rotated or not. WKT
// defines its own order. The data axis mapping is GDAL's default: the caller sets it from the axes.
std::shared_ptr<OGRSpatialReference> crs_from_grid_mapping(const zarrcore::Json& attributes,
                                                           const std::string& linear_unit,
                                                           std::string* problem);

// The attributes of a grid mapping variable for `crs`: `crs_wkt`, which lacks only a coordinate
// epoch, and `grid_mapping_name` with its parameters, if reading these would give the same
// projection. Lengths are in the unit of linear_unit(), but heights are in metres. Throws
// zarrcore::Error when PROJ cannot express the CRS.
zarrcore::Json grid_mapping_attributes(const OGRSpatialReference& crs);

// The unit of the coordinates of a projected or local CRS, as UDUNITS spells it: "m", "1000 m"…
std::string linear_unit(const OGRSpatialReference& crs);

}  // namespace gdal_zarr
