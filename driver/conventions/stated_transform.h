// The transforms that attributes state, as opposed to coordinates.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "driver/conventions/evidence.h"
#include "driver/conventions/geotransform.h"

namespace gdal_zarr {

struct FoundTransform {
  std::optional<GeoTransform> transform;
  std::string source = {};
  std::shared_ptr<const zarrcore::Json> attributes = {};  // that state it, if any do
};

// In the order of a table: `spatial:transform`, `gdal:geotransform`, `proj:transform`,
// `_TRANSFORM`. Warns of one that is for another shape than that of X and Y.
FoundTransform stated_transform(const Evidence& evidence, const RasterAxes& axes);

// Whether the array says that it has none (`spatial:transform` is null), so that those of groups
// and of its pyramid are not for it.
bool denies_transform(const Evidence& evidence);

// That of `spatial:bbox`. In some stores it holds the centres of the outer cells instead of their
// edges: it is used if only one of the two gives cells of a round size, or square ones.
FoundTransform box_transform(const Evidence& evidence, const RasterAxes& axes);

}  // namespace gdal_zarr
