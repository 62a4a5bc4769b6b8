// By itself, as build_info.cmake defines these texts, which change with every commit.
#include "driver/entry/register_driver.h"

namespace gdal_zarr {

const char* const kDriverVersion = GDAL_ZARR_VERSION;
const char* const kBuildInfo = GDAL_ZARR_BUILD;

}  // namespace gdal_zarr
