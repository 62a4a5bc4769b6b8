// Determines where the cells of an array lie. Several conventions can state a position;
// doc/position.md has their precedence. Statements for another shape are ignored, and so are
// transforms whose X or Y is not an axis of a map but, for example, time or depth.
#pragma once

#include <ogr_spatialref.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/conventions/crs.h"
#include "driver/conventions/evidence.h"
#include "driver/conventions/geotransform.h"

namespace gdal_zarr {

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
