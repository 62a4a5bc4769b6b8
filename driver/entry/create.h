// Creating stores: an empty raster, a copy of one, and a root group.
#pragma once

#include "driver/gdal/compat.h"

namespace gdal_zarr {

// GDAL's entry points; see GDALDriver::pfnCreate, pfnCreateCopy and pfnCreateMultiDimensional. A
// failure is reported and leaves nothing behind. When create_copy returns, the copy is in the
// store.
GDALDataset* create(const char* name, int columns, int rows, int bands, GDALDataType type,
                    OptionList options);
GDALDataset* create_copy(const char* name, GDALDataset* source, int is_strict, OptionList options,
                         GDALProgressFunc progress, void* progress_data);
GDALDataset* create_multidimensional(const char* name, CSLConstList group_options,
                                     CSLConstList options);

}  // namespace gdal_zarr
