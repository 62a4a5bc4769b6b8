// Conversion between the numbers that GDAL knows, by its own rules.
#pragma once

#include <memory>

#include "driver/gdal/compat.h"
#include "zarrcore/base/strided.h"

namespace gdal_zarr {

inline std::size_t number_size(GDALDataType type) {
  return static_cast<std::size_t>(GDALGetDataTypeSizeBytes(type));
}

// Converts as GDALCopyWords() does: rounding, what is out of range goes to the nearest end. Null
// when both are the same.
std::unique_ptr<const zarrcore::ElementConverter> make_number_converter(GDALDataType source,
                                                                        GDALDataType destination);

}  // namespace gdal_zarr
