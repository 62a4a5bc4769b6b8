// The metadata of a new array, made from its shape and type and from creation options.
//
//   creation_option_table.cpp  names, defaults and descriptions of the options
//   stored_type.cpp            STRING_FORMAT; the data type
//   chunk_layout.cpp           BLOCKSIZE, SHARD_CHUNK_SHAPE, CHUNKS, SHARDING, ACCESS,
//                              CHUNK_ASPECT_RATIO, CHUNK_ELEMENTS
//   new_codecs.cpp             COMPRESS, FILTER, KEEPBITS, CHECKSUM, each compressor's options,
//                              CHUNK_MEMORY_LAYOUT
//   new_array.cpp              CODECS, DIM_SEPARATOR; puts it all together
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "driver/gdal/compat.h"
#include "zarrcore/metadata/array_metadata.h"
#include "zarrcore/metadata/format.h"

namespace gdal_zarr {

// A new array as a caller of GDAL describes it, without its creation options.
struct NewArray {
  zarrcore::Shape shape;
  std::vector<std::string> dimension_names;  // one for each dimension; empty if it has no name
  GDALExtendedDataType type = GDALExtendedDataType::Create(GDT_Byte);
  // The stored type, if it is not the usual one for the type.
  std::optional<zarrcore::DataType> stored_type = {};
  const zarrcore::Format* format = &zarrcore::v2_format();  // must have rules for new arrays
  // The positions of X and Y; by default the last dimension and the one before it.
  std::optional<std::size_t> x = {};
  std::optional<std::size_t> y = {};
  // True if chunks, unless BLOCKSIZE is given, hold all of the dimensions after X and Y: the bands
  // of an image that is interleaved by pixel.
  bool keeps_pixels_together = false;
};

// Applies the options for arrays in `options`; others, including unknown ones, are ignored. The
// returned array has no attributes and no fill value, or a fill value of zero if the format
// requires one. The caller sets chunk_prefix: here chunks are at the root of the store.
//
// Throws zarrcore::Error on options that are invalid, that contradict each other or that do not fit
// the array, and when the format does not have the data type.
zarrcore::ArrayMetadata make_array_metadata(const NewArray& array, CSLConstList options);

}  // namespace gdal_zarr
