// The description of a slice of an array, from the metadata of its band.
#pragma once

#include <cpl_port.h>

#include <string>

namespace gdal_zarr {

// "time=2020-01-01T00:00, level=500 hPa" from the items DIM_name_INDEX, DIM_name_VALUE,
// DIM_name_UNIT and DIM_name_DATETIME. A dimension without a value is given by its index. Empty
// without such items.
std::string describe_slice(CSLConstList metadata);

}  // namespace gdal_zarr
