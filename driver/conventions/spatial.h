// The `spatial:` convention (https://github.com/zarr-conventions/spatial): the affine transform of
// a grid, and which of its dimensions are Y and X.
//
//   "spatial:transform": [10, 0, 500000, 0, -10, 5000000]
//   "spatial:dimensions": ["y", "x"]
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "driver/conventions/geotransform.h"
#include "zarrcore/base/json.h"

namespace gdal_zarr {

// `spatial:transform`: [a b c d e f] with x = a·column + b·row + c, y = d·column + e·row + f. For a
// grid of nodes (`spatial:registration`), the transform of the cells around them. Empty if there is
// no transform or it is not affine; warns when it is not understood.
std::optional<GeoTransform> spatial_transform(const zarrcore::Json& attributes);

// `spatial:registration`: what the points that the transform places are. Other values are none.
enum class Registration : std::uint8_t {
  pixel,  // corners of the cells
  node,   // their centres
};
std::optional<Registration> spatial_registration(const zarrcore::Json& attributes);

// GDAL's AREA_OR_POINT for attributes with `spatial:registration`, or that follow the convention:
// then absence means "Area". Empty for others.
std::string area_or_point(const zarrcore::Json& attributes);
// Its inverse, for "Area" and "Point"; empty for other words.
std::optional<Registration> registration_of(const std::string& area_or_point);
const char* registration_name(Registration registration);

struct SpatialDimensions {
  std::string y;
  std::string x;
};

// `spatial:dimensions`: [y, x].
std::optional<SpatialDimensions> spatial_dimensions(const zarrcore::Json& attributes);

// Sets the members for a grid of `columns` × `rows` cells along `dimensions`, if these are known.
// `transform` is that of the cells, whatever their registration.
void write_spatial(zarrcore::Json& attributes, const GeoTransform& transform, std::uint64_t columns,
                   std::uint64_t rows, const std::optional<SpatialDimensions>& dimensions,
                   Registration registration = Registration::pixel);

}  // namespace gdal_zarr
