// Finds the CRS of an array. Several conventions can state a CRS; a table in crs.cpp has their
// precedence. A CRS in degrees does not fit coordinates in metres, or vice versa: it is skipped
// with a warning. If attributes of the array itself contradict each other, the first in the table
// counts, unless the raster lies outside its area of use and inside the other's.
#pragma once

#include <ogr_spatialref.h>

#include <memory>
#include <optional>
#include <string>

#include "driver/conventions/evidence.h"

namespace gdal_zarr {

struct FoundCrs {
  std::shared_ptr<OGRSpatialReference> crs;  // null if there is none
  std::string source = {};                   // "the attribute _CRS"
};

// `axes` is empty for an array of fewer than two dimensions. The CRS has the unit of the X
// coordinates; if attributes state the transform, it keeps its own unit. It has no axis mapping.
// Warns of statements that it does not understand.
FoundCrs find_crs(const Evidence& evidence, const std::optional<RasterAxes>& axes);

// WGS 84 with longitude before latitude.
std::shared_ptr<OGRSpatialReference> make_wgs84();

// Sets the data axis mapping of `crs`: its easting or longitude is data axis `x`, its northing or
// latitude `y`, both counted from 1.
void set_axis_mapping(OGRSpatialReference& crs, int x, int y);

}  // namespace gdal_zarr
