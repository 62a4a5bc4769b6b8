// Differences between the GDAL versions that the driver builds against (3.6 to 3.13).
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
using OptionList = CSLConstList;
#else
using MetadataList = char**;
using OptionList = char**;
#endif

// FlushCache() returns errors since GDAL 3.7; before, only the error handler gets them.
#if GDAL_ZARR_AT_LEAST(3, 7)
using FlushResult = CPLErr;
inline FlushResult flush_result(CPLErr error) {
  return error;
}
#else
using FlushResult = void;
inline FlushResult flush_result(CPLErr /*error*/) {}
#endif

// The parameters of GDALDataset::Close(), which exists since GDAL 3.7.
#if GDAL_ZARR_AT_LEAST(3, 13)
#define GDAL_ZARR_CLOSE_PARAMETERS GDALProgressFunc /*progress*/, void* /*data*/
#else
#define GDAL_ZARR_CLOSE_PARAMETERS
#endif

// Types that only some versions have; other versions use the next wider one.
#if GDAL_ZARR_AT_LEAST(3, 7)
inline constexpr GDALDataType kInt8 = GDT_Int8;
#else
inline constexpr GDALDataType kInt8 = GDT_Int16;
#endif
#if GDAL_ZARR_AT_LEAST(3, 11)
inline constexpr GDALDataType kFloat16 = GDT_Float16;
inline constexpr GDALDataType kCFloat16 = GDT_CFloat16;
#else
inline constexpr GDALDataType kFloat16 = GDT_Float32;
inline constexpr GDALDataType kCFloat16 = GDT_CFloat32;
#endif

// A type that holds the values of both. GDAL's union of CFloat16 and itself is CFloat32.
inline GDALDataType union_of_types(GDALDataType a, GDALDataType b) {
  return a == b ? a : GDALDataTypeUnion(a, b);
}

}  // namespace gdal_zarr
