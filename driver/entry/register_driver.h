// The driver as GDAL sees it: its functions, and the metadata that describe it.
#pragma once

#include <gdal_priv.h>

#include <functional>

namespace gdal_zarr {

// Registers the driver in GDAL's driver manager, with its virtual file systems and codecs, after
// `complete` has added to it.
void register_driver(const std::function<void(GDALDriver&)>& complete);

}  // namespace gdal_zarr
