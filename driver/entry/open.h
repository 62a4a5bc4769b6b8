// Opening: from a connection string to a dataset.
#pragma once

#include "driver/gdal/compat.h"

namespace gdal_zarr {

// GDAL's entry points; see GDALDriver::pfnIdentify and pfnOpen.
int identify(GDALOpenInfo* info);
GDALDataset* open(GDALOpenInfo* info);

}  // namespace gdal_zarr
