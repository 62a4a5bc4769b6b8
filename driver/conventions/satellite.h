// Grids of geostationary satellites, whose coordinates are angles of the view.
#pragma once

#include <ogr_spatialref.h>

#include <optional>

#include "driver/conventions/evidence.h"

namespace gdal_zarr {

// The height of the satellite, in metres, of a geostationary CRS; empty for others.
std::optional<double> satellite_height(const OGRSpatialReference& crs);

// By what angles along an axis, in its unit, are multiplied to become lengths in metres, as PROJ
// has them; 0 if its unit is no angle. The azimuth of EUMETSAT's MTG counts to the west.
double metres_of_view(const EvidenceAxis& axis, double height);

}  // namespace gdal_zarr
