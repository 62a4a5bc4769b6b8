// The name of a slice of an array, made from the metadata of its band.
#pragma once

#include <cpl_port.h>

#include <string>

namespace gdal_zarr {

// "time=2020-01-01T00:00, level=500 hPa" from the items DIM_name_INDEX, DIM_name_VALUE,
// DIM_name_UNIT and DIM_name_DATETIME. A dimension without a value is given by its index. Empty
// where the items say nothing more than a band's number does: when there are none, or none but the
// index in a dimension "Band" alone.
std::string describe_slice(CSLConstList metadata);

}  // namespace gdal_zarr
