// Changing the lengths of dimensions that arrays share; GDAL has an API for it since 3.7.
#pragma once

#include "zarrcore/base/strided.h"

namespace gdal_zarr {

class Array;

// Gives an array another shape. A dimension that becomes longer or shorter does so for all arrays
// that share it. Elements outside the new shape are lost; new elements have the fill value. Throws
// zarrcore::Error; some of the arrays may have been changed by then.
void resize_arrays(const Array& array, const zarrcore::Shape& shape);

}  // namespace gdal_zarr
