// Building overviews in the store. Each level is a group next to the arrays of the raster, "ovr_2x"
// for a half, "ovr_4x" for a quarter…, with arrays of the same names and their coordinates. The
// attribute `multiscales` of the parent group lists the levels (conventions/multiscales.h). Only X
// and Y shrink.
#pragma once

#include <span>
#include <vector>

#include "driver/multidim/raster_view.h"

namespace gdal_zarr {

// The length of a dimension at a level.
std::uint64_t overview_length(std::uint64_t length, int factor);

// Creates the levels at `factors` for the arrays of a view, each of the size of the raster divided
// by the factor, rounded up; other levels stay. For all bands, existing levels are replaced by
// empty ones; for some bands, the levels must exist and are kept. `resampling` is GDAL's name of
// the method that will fill them. Throws zarrcore::Error.
void make_overview_levels(const RasterView& view, std::span<const int> factors,
                          bool is_for_all_bands, const std::string& resampling);

// Removes the levels of the arrays of a view, and their entries in `multiscales`. Throws
// zarrcore::Error.
void remove_overview_levels(const RasterView& view);

}  // namespace gdal_zarr
