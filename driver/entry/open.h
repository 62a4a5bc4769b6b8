// Opening: from a connection string to a dataset.
#pragma once

#include "driver/gdal/compat.h"

namespace gdal_zarr {

// GDAL's entry points; see GDALDriver::pfnIdentify and pfnOpen.
int identify(GDALOpenInfo* info);
GDALDataset* open(GDALOpenInfo* info);

// The XML list of open options that `open` honours.
extern const char* const kOpenOptionList;

}  // namespace gdal_zarr
