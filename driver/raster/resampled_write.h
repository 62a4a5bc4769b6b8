// Writing a buffer to a window of another size.
#pragma once

#include <span>

#include "driver/multidim/raster_view.h"

namespace gdal_zarr {

// Writes the pixels of a buffer of `buffer_columns` times `buffer_rows` to the window of `request`,
// whose steps are ignored, by nearest neighbour as GDAL does it. Returns false after a CE_Failure,
// which is also reported when the progress function stops the write.
bool write_resampled(const RasterView& view, const RasterRequest& request,
                     std::span<const int> bands, int buffer_columns, int buffer_rows);

}  // namespace gdal_zarr
