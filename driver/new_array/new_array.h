// The metadata of a new array, made from its shape and type and from creation options.
//
//   creation_option_table.cpp  names, defaults and descriptions of the options
//   stored_type.cpp            STRING_FORMAT; the data type
//   chunk_layout.cpp           BLOCKSIZE, SHARD_CHUNK_SHAPE, CHUNKS, SHARDING, ACCESS
//   new_codecs.cpp             COMPRESS, FILTER, KEEPBITS, CHECKSUM, those of each compressor,
//                              CHUNK_MEMORY_LAYOUT
//   given_codecs.cpp           CODECS
//   new_array.cpp              DIM_SEPARATOR; puts it all together
#pragma once

#include "driver/gdal/compat.h"
#include "driver/new_array/array_description.h"
#include "zarrcore/metadata/array_metadata.h"

namespace gdal_zarr {

// Applies those of `options` that are for arrays; others, including unknown ones, are ignored. The
// array has no attributes yet and no fill value, or zero where the format requires one. The caller
// sets chunk_prefix: here chunks are at the root of the store.
//
// Throws zarrcore::Error on options that are invalid, that contradict each other or that do not fit
// the array, and when the format does not have the data type.
zarrcore::ArrayMetadata make_array_metadata(const NewArray& array, CSLConstList options);

}  // namespace gdal_zarr
