// Overviews in the store. Beside the arrays of a raster stands a group for each level, "ovr_2x" for
// a half, "ovr_4x" for a quarter…, which holds arrays of the same names and their coordinates; the
// attribute `multiscales` of the group around all says which level is which
// (conventions/multiscales.h). Only X and Y shrink.
#pragma once

#include <span>
#include <vector>

#include "driver/multidim/raster_view.h"

namespace gdal_zarr {

// The length of a dimension at a level.
std::uint64_t overview_length(std::uint64_t length, int factor);

// Makes the levels at `factors` for the arrays of a view, each as large as the raster divided by
// the factor, rounded up; other levels stay. For all bands, levels that are there are made anew and
// are empty; for some, they have to be there, and stay. `resampling` is GDAL's name of the method
// by which they are going to be filled. Throws zarrcore::Error.
void make_overview_levels(const RasterView& view, std::span<const int> factors,
                          bool is_for_all_bands, const std::string& resampling);

// Removes the levels of the arrays of a view, and what says that there are any. Throws
// zarrcore::Error.
void remove_overview_levels(const RasterView& view);

}  // namespace gdal_zarr
