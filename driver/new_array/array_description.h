// A new array as a caller of GDAL describes it, without its creation options.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "driver/gdal/compat.h"
#include "zarrcore/metadata/format.h"

namespace gdal_zarr {

struct NewArray {
  zarrcore::Shape shape;
  std::vector<std::string> dimension_names;  // one for each dimension; empty for no name
  GDALExtendedDataType type = GDALExtendedDataType::Create(GDT_Byte);
  // The stored type, if it is not the usual one for the type.
  std::optional<zarrcore::DataType> stored_type = {};
  const zarrcore::Format* format = &zarrcore::v2_format();  // one with rules for new arrays
  // The positions of X and Y; by default the last dimension and the one before it.
  std::optional<std::size_t> x = {};
  std::optional<std::size_t> y = {};
  // Whether chunks, unless BLOCKSIZE is given, hold all of the dimensions after X and Y: the bands
  // of an image that is interleaved by pixel.
  bool keeps_pixels_together = false;
};

}  // namespace gdal_zarr
