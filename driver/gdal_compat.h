// What differs between the GDAL versions that the driver builds against (3.6 to 3.13), and nothing
// else.
#pragma once

#include <gdal_priv.h>
#include <gdal_version.h>

#define GDAL_ZARR_AT_LEAST(major, minor) (GDAL_VERSION_NUM >= GDAL_COMPUTE_VERSION(major, minor, 0))

namespace gdal_zarr {

#if GDAL_ZARR_AT_LEAST(3, 10)
using BandMap = BANDMAP_TYPE;
#else
using BandMap = int*;
#endif

#if GDAL_ZARR_AT_LEAST(3, 13)
using MetadataList = CSLConstList;
#else
using MetadataList = char**;
#endif

// Types that only some versions have; elsewhere the next wider one stands in.
#if GDAL_ZARR_AT_LEAST(3, 7)
inline constexpr GDALDataType kInt8 = GDT_Int8;
#else
inline constexpr GDALDataType kInt8 = GDT_Int16;
#endif
#if GDAL_ZARR_AT_LEAST(3, 11)
inline constexpr GDALDataType kFloat16 = GDT_Float16;
#else
inline constexpr GDALDataType kFloat16 = GDT_Float32;
#endif

}  // namespace gdal_zarr
