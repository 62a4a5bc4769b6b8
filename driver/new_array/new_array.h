// The metadata of a new array: from what a caller of GDAL wants and the creation options.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "driver/gdal/compat.h"
#include "zarrcore/metadata/format.h"
#include "zarrcore/metadata/v2.h"

namespace gdal_zarr {

struct NewArray {
  zarrcore::Shape shape;
  std::vector<std::string> dimension_names;  // one for each dimension, empty without a name
  GDALExtendedDataType type = GDALExtendedDataType::Create(GDT_Byte);
  const zarrcore::Format* format = &zarrcore::v2_format();  // one with rules for new arrays
  // The positions of X and Y; by default they are the last and the one before.
  std::optional<std::size_t> x = {};
  std::optional<std::size_t> y = {};
  // Whether chunks that are not asked for otherwise keep the dimensions behind X and Y whole: the
  // bands of an image that is interleaved by pixels.
  bool keeps_pixels_together = false;
};

// What `options` that are for arrays make of it; others are passed over, unknown ones too. The
// array has no attributes yet and no fill value but the zero that some formats demand, and its
// chunks stand at the root of the store: chunk_prefix is the caller's to set.
//
// Throws zarrcore::Error on options that are not right, that contradict each other or that do not
// fit the array, and when the format has no such data type.
zarrcore::ArrayMetadata make_array_metadata(const NewArray& array, CSLConstList options);

}  // namespace gdal_zarr
