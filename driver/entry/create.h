// Creating a raster: an empty one, or a copy.
#pragma once

#include "driver/gdal/compat.h"

namespace gdal_zarr {

// GDAL's entry points; see GDALDriver::pfnCreate and pfnCreateCopy. A
// failure is reported and leaves nothing behind. When create_copy returns, the copy is in the
// store.
GDALDataset* create(const char* name, int columns, int rows, int bands, GDALDataType type,
                    OptionList options);
GDALDataset* create_copy(const char* name, GDALDataset* source, int is_strict, OptionList options,
                         GDALProgressFunc progress, void* progress_data);

}  // namespace gdal_zarr
