// Writes an array's CRS and geotransform: the inverse of crs.h and of the driver's search for a
// geotransform. A pure function computes the changes; the owner of the store applies them.
//
// Three conventions differ in how they store the CRS:
//   gdal          the array's attributes `_CRS` and `crs` (gdal_crs.h)
//   spatial_proj  the array's attributes `proj:…`
//   cf            a grid mapping variable, named by the array's attributes `grid_mapping` and
//                 `coordinates`
// In all of them, coordinate variables of X and Y store the geotransform, because every reader
// supports those. spatial_proj stores it as `spatial:…` as well, and so do the others where
// coordinates cannot: for a rotated or sheared grid, one cell along an axis, dimensions without a
// name or whose variables may not be changed. For cf the grid mapping also has it as text.
//
// Reading afterwards gives the new values, regardless of the old attributes: statements of other
// conventions that have precedence are removed, and those of groups above are overridden.
#pragma once

#include <ogr_spatialref.h>

#include <cstdint>
#include <optional>
#include <span>

#include "driver/conventions/gcps.h"
#include "driver/conventions/georeferencing_change.h"
#include "driver/conventions/geotransform.h"
#include "zarrcore/base/json.h"

namespace gdal_zarr {

enum class GeoreferencingConvention : std::uint8_t { gdal, spatial_proj, cf };

// The convention that the attributes of an array follow, so that changes keep it; gdal, the
// driver's default, if they follow none.
GeoreferencingConvention georeferencing_convention(const zarrcore::Json& array_attributes);

struct WrittenGeoreferencing {
  std::optional<GeoTransform> transform = {};
  const OGRSpatialReference* crs = nullptr;  // may be null or empty; its axis mapping is ignored
  // In the CRS. Only cf has a place for them; the others ignore them.
  std::span<const GroundControlPoint> gcps = {};
};

// Afterwards `written` is the array's whole georeferencing: without a transform, only coordinate
// variables that are not evenly spaced are kept. Throws zarrcore::Error when the transform is not
// finite or PROJ cannot express the CRS.
GeoreferencingChange write_georeferencing(GeoreferencingConvention convention,
                                          const GeoreferencedArray& array,
                                          const WrittenGeoreferencing& written);

}  // namespace gdal_zarr
