// The part of a raster that the arguments of a command say.
#pragma once

#include <optional>

#include "driver/commands/command.h"
#include "driver/raster/raster_dataset.h"

namespace gdal_zarr {

// By --window in pixels, or by --bbox in the raster's CRS; nullopt if neither was given. Throws
// zarrcore::Error when that is no part of the raster.
std::optional<PixelWindow> window_of(const Arguments& arguments, GDALDataset& dataset);

}  // namespace gdal_zarr
