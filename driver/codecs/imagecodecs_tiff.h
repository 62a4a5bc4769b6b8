// The codec `imagecodecs_tiff` of the Python package imagecodecs, which Kerchunk references to
// series of TIFF files use: each chunk is a TIFF file. GDAL's GTiff driver decodes it from memory.
// Such chunks are not written.
#pragma once

#include "zarrcore/codec/registry.h"

namespace gdal_zarr {

// Finds the codec by its name: the zarrcore::CodecProvider of the driver.
zarrcore::CodecFactory find_gdal_codec(std::string_view name);

}  // namespace gdal_zarr
