// Coordinate variables of X and Y (CF conventions, chapter 4 and section 5.6,
// https://cfconventions.org/cf-conventions/cf-conventions.html#coordinate-types): an array of one
// dimension, named like the dimension, with the centres of the cells.
//
//   axis = "X"   standard_name = "projection_x_coordinate"   units = "m"
#pragma once

#include <ogr_spatialref.h>

#include <optional>

#include "driver/conventions/georeferencing_change.h"
#include "driver/conventions/geotransform.h"

namespace gdal_zarr {

// Adds to `change` the coordinate variables to write, to update and to remove, so that they state
// `transform`, or nothing that contradicts it. `crs` may be null. Returns whether the transform can
// be read from the coordinate variables, old or new.
bool write_coordinates(const GeoreferencedArray& array,
                       const std::optional<GeoTransform>& transform, const OGRSpatialReference* crs,
                       GeoreferencingChange& change);

}  // namespace gdal_zarr
