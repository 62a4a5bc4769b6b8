// Turns the attributes of a CF grid mapping variable (CF conventions 1.11, section 5.6 and
// appendix F) into a CRS, and back, in the same way for every GDAL version; whoever georeferences
// an array that names such a variable, or is to name one, calls it.
#pragma once

#include <ogr_spatialref.h>

#include <memory>
#include <string>

#include "zarrcore/base/json.h"

namespace gdal_zarr {

// `attributes`: those of the grid mapping variable. WKT in `crs_wkt`, else in `spatial_ref`, is the
// CRS, in its own unit, if it parses; otherwise `grid_mapping_name` and its parameters say what it
// is. False eastings and northings that are absent count as 0, scale factors as 1, and the last
// turn of a rotated pole (`north_pole_grid_longitude`) as 0; a satellite sweeps about y unless told
// otherwise. Other parameters must be there unless the rest implies them (the pole's sign, say).
// Attributes that tell nothing of datum and ellipsoid mean WGS 84.
//
// `linear_unit`: the `units` of the projection coordinate variables ("m", "km", "1000 m"…; empty
// for metres), which is the unit of false easting and northing and of the CRS that is made from
// parameters. For a geostationary grid in "rad" (or "microradian"…) the CRS has a unit as long as
// that angle is at the height of the satellite, so that it fits the coordinates as they stand.
//
// Returns null when the attributes do not describe a CRS (no such grid mapping, a parameter missing
// or of the wrong kind, a unit that is no length), with `*problem` set to what is wrong. Throws
// nothing but std::bad_alloc and raises no GDAL error.
//
// Axes of a CRS made from parameters: easting, then northing if it is projected (in polar ones both
// point south, or both north); latitude, then longitude if it is geographic, rotated or not. WKT
// has its own order. The data axis mapping is GDAL's default: the caller sets it from the axes.
std::shared_ptr<OGRSpatialReference> crs_from_grid_mapping(const zarrcore::Json& attributes,
                                                           const std::string& linear_unit,
                                                           std::string* problem);

// The attributes of a grid mapping variable for `crs`: `crs_wkt`, which says all but a coordinate
// epoch, and `grid_mapping_name` with its parameters if CF knows the projection and they say the
// same. Lengths among them are in the unit of linear_unit(), but heights are in metres. Throws
// zarrcore::Error when PROJ cannot express the CRS.
zarrcore::Json grid_mapping_attributes(const OGRSpatialReference& crs);

// The unit of the coordinates of a projected or local CRS in the words of UDUNITS: "m", "1000 m"…
std::string linear_unit(const OGRSpatialReference& crs);

}  // namespace gdal_zarr
