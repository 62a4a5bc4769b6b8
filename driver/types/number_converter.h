// Conversion between GDAL's number types by GDAL's rules.
#pragma once

#include <memory>

#include "driver/gdal/compat.h"
#include "zarrcore/base/strided.h"

namespace gdal_zarr {

inline std::size_t number_size(GDALDataType type) {
  return static_cast<std::size_t>(GDALGetDataTypeSizeBytes(type));
}

// Converts like GDALCopyWords(), which rounds and clamps. Null if the types are equal.
std::unique_ptr<const zarrcore::ElementConverter> make_number_converter(GDALDataType source,
                                                                        GDALDataType destination);

}  // namespace gdal_zarr
