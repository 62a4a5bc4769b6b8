// The units of dimensions as TensorStore writes them in Zarr v3: how far one step along a dimension
// is. Each is a multiplier and a base unit.
//
//   "dimension_units": ["4 nm", "nm", "", null]
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "zarrcore/base/json.h"

namespace gdal_zarr {

struct DimensionUnit {
  double multiplier = 1;
  std::string base;  // empty for numbers without a unit
};

// One for each of `rank` dimensions, empty where none is stated; no elements if the attribute is
// absent. Throws zarrcore::Error when it is anything else.
std::vector<std::optional<DimensionUnit>> dimension_units(const zarrcore::Json& array_attributes,
                                                          std::size_t rank);

}  // namespace gdal_zarr
