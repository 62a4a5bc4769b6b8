// The `spatial:` convention (https://github.com/zarr-conventions/spatial): the affine transform of
// a grid, and which of its dimensions are Y and X.
//
//   "spatial:transform": [10, 0, 500000, 0, -10, 5000000]
//   "spatial:dimensions": ["y", "x"]
#pragma once

#include <optional>
#include <string>

#include "driver/conventions/geotransform.h"
#include "zarrcore/base/json.h"

namespace gdal_zarr {

// `spatial:transform`: [a b c d e f] with x = a·column + b·row + c, y = d·column + e·row + f. For a
// grid of nodes (`spatial:registration`), the transform of the cells around them. Empty if there is
// no transform or it is not affine; warns when it is not understood.
std::optional<GeoTransform> spatial_transform(const zarrcore::Json& attributes);

struct SpatialDimensions {
  std::string y;
  std::string x;
};

// `spatial:dimensions`: [y, x].
std::optional<SpatialDimensions> spatial_dimensions(const zarrcore::Json& attributes);

// Sets the members for a grid of `columns` × `rows` cells along `dimensions`, if these are known.
void write_spatial(zarrcore::Json& attributes, const GeoTransform& transform, std::uint64_t columns,
                   std::uint64_t rows, const std::optional<SpatialDimensions>& dimensions);

}  // namespace gdal_zarr
