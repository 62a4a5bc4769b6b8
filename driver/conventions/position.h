// Finds the CRS of an array (crs.cpp), and where its cells lie (position.cpp).
//
// Several conventions can state a CRS; a table in crs.cpp has their precedence. A CRS in degrees
// does not fit coordinates in metres, or vice versa: it is skipped with a warning. If attributes of
// the array itself contradict each other, the first in the table counts, unless the raster lies
// outside its area of use and inside the other's.
//
// Several conventions can state a position; doc/position.md has their precedence. Statements for
// another shape are ignored, and so are transforms whose X or Y is not an axis of a map but, for
// example, time or depth.
#pragma once

#include <ogr_spatialref.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/conventions/evidence.h"
#include "driver/conventions/geotransform.h"

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

// The transform that attributes state, else the one from coordinates. `crs` may be null.
FoundTransform find_transform(const Evidence& evidence, const RasterAxes& axes,
                              const OGRSpatialReference* crs);

// Variables that hold the position of each cell, or of each column and row.
struct Geolocation {
  EvidenceVariable x;
  EvidenceVariable y;
  std::vector<std::uint64_t> slice = {};  // of their first dimensions, all but the last two
  bool is_geographic = true;              // true if they are longitudes and latitudes
};

struct Position {
  FoundCrs crs;
  FoundTransform transform;
  std::optional<Geolocation> geolocation;
  std::vector<GroundControlPoint> gcps = {};  // in the CRS
};

// `fixed` has, for each dimension of the array, the index at which it is held, if it is; no
// elements mean none. Axes that are Y and X, in this order, give a transposed transform.
Position find_position(const Evidence& evidence, const RasterAxes& axes,
                       const std::vector<std::optional<std::uint64_t>>& fixed = {});

// The geotransform of a raster of `columns` × `rows` that covers what one of `fine_columns` ×
// `fine_rows` covers.
GeoTransform coarser_geotransform(const GeoTransform& fine, double fine_columns, double fine_rows,
                                  double columns, double rows);

}  // namespace gdal_zarr
