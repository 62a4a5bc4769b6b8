// Writing a buffer of another size than the window of the raster that it is for.
#pragma once

#include <span>

#include "driver/multidim/raster_view.h"

namespace gdal_zarr {

// Writes the pixels of a buffer of `buffer_columns` times `buffer_rows` to the window of `request`,
// whose steps are ignored; each pixel of the window gets the one that GDAL would give it. Returns
// false after a CE_Failure, which is also the end when the progress function says stop.
bool write_resampled(const RasterView& view, const RasterRequest& request,
                     std::span<const int> bands, int buffer_columns, int buffer_rows);

}  // namespace gdal_zarr
