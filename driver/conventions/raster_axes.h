// Which dimensions of an array are X and Y, which variables hold longitudes and latitudes, and
// coordinates that are angles of a satellite's view.
#pragma once

#include <ogr_spatialref.h>

#include <optional>

#include "driver/conventions/evidence.h"

namespace gdal_zarr {

// The dimensions X and Y of an array of at least two dimensions: the ones that `spatial:dimensions`
// names, else by their coordinates or names, else the dimensions of the shape that the convention
// states, else the last two.
RasterAxes find_raster_axes(const Evidence& evidence);

// Returns true if the first two of these determine which dimensions are X and Y.
bool knows_raster_axes(const Evidence& evidence);

// Returns true if CF's `featureType` states that arrays hold points, profiles or lines of them:
// neither grids nor swaths.
bool has_discrete_features(const Evidence& evidence);

// Not if one of them is known to be something else, such as time or depth.
bool are_on_the_map(const Evidence& evidence, const RasterAxes& axes);

// The certainty that a variable holds `word`, "longitude" or "latitude": 2 by its standard name or
// unit, 1 by its own name, 0 if it does not.
int certainty_of(const EvidenceVariable& variable, const char* word);

// The height of the satellite, in metres, of a geostationary CRS, on whose grids coordinates are
// angles of the view; empty for others.
std::optional<double> satellite_height(const OGRSpatialReference& crs);

// By what angles along an axis, in its unit, are multiplied to become lengths in metres, as PROJ
// has them; 0 if its unit is not an angle. The azimuth of EUMETSAT's MTG counts to the west.
double metres_of_view(const EvidenceAxis& axis, double height);

}  // namespace gdal_zarr
