// The metadata of a new array: from what a caller of GDAL wants and the creation options.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "driver/gdal_compat.h"
#include "zarrcore/metadata/array_metadata.h"

namespace gdal_zarr {

struct NewArray {
  zarrcore::Shape shape;
  std::vector<std::string> dimension_names;  // one for each dimension, empty without a name
  GDALExtendedDataType type = GDALExtendedDataType::Create(GDT_Byte);
  int zarr_format = 2;  // or 3
  // The positions of X and Y; by default they are the last and the one before.
  std::optional<std::size_t> x = {};
  std::optional<std::size_t> y = {};
  // Whether chunks that are not asked for otherwise keep the dimensions behind X and Y whole: the
  // bands of an image that is interleaved by pixels.
  bool keeps_pixels_together = false;
};

// What `options` that are for arrays make of it; others are passed over, unknown ones too. The
// array has no attributes yet and no fill value but the zero that v3 demands, and its chunks stand
// at the root of the store: chunk_prefix is the caller's to set.
//
// Throws zarrcore::Error on options that are not right, that contradict each other or that do not
// fit the array, and when the format has no such data type.
zarrcore::ArrayMetadata make_array_metadata(const NewArray& array, CSLConstList options);

}  // namespace gdal_zarr
