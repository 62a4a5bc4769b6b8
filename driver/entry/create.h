// Making stores: an empty raster, a copy of one, and a root group.
#pragma once

#include "driver/gdal/compat.h"

namespace gdal_zarr {

// GDAL's entry points; see GDALDriver::pfnCreate, pfnCreateCopy and pfnCreateMultiDimensional. What
// fails is told and leaves nothing behind; what has been copied is in the store when create_copy
// returns.
GDALDataset* create(const char* name, int columns, int rows, int bands, GDALDataType type,
                    OptionList options);
GDALDataset* create_copy(const char* name, GDALDataset* source, int is_strict, OptionList options,
                         GDALProgressFunc progress, void* progress_data);
GDALDataset* create_multidimensional(const char* name, CSLConstList group_options,
                                     CSLConstList options);

}  // namespace gdal_zarr
