// The `spatial:` convention of Zarr attributes: the affine transform of a grid and which of its
// dimensions are Y and X.
#pragma once

#include <optional>
#include <string>

#include "driver/conventions/geotransform.h"
#include "zarrcore/base/json.h"

namespace gdal_zarr {

// `spatial:transform`: [a b c d e f] with x = a·column + b·row + c, y = d·column + e·row + f. Of a
// grid whose coordinates are those of nodes (`spatial:registration`), the cells around them.
// Nothing when there is none, or one that is not affine; warns when it cannot be understood.
std::optional<GeoTransform> spatial_transform(const zarrcore::Json& attributes);

struct SpatialDimensions {
  std::string y;
  std::string x;
};

// `spatial:dimensions`: [y, x].
std::optional<SpatialDimensions> spatial_dimensions(const zarrcore::Json& attributes);

// Sets the members for a grid of `columns` × `rows` cells along `dimensions`, which may be unknown.
void write_spatial(zarrcore::Json& attributes, const GeoTransform& transform, std::uint64_t columns,
                   std::uint64_t rows, const std::optional<SpatialDimensions>& dimensions);

}  // namespace gdal_zarr
