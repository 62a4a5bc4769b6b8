// The metadata of a new array, made from its shape and type and from creation options.
//
//   creation_options.cpp  names, defaults and descriptions of the options
//   chunk_layout.cpp      BLOCKSIZE, SHARD_CHUNK_SHAPE, CHUNKS, SHARDING, ACCESS,
//                         CHUNK_ASPECT_RATIO, CHUNK_ELEMENTS
//   new_codecs.cpp        COMPRESS, FILTER, KEEPBITS, CHECKSUM, each compressor's options,
//                         CHUNK_MEMORY_LAYOUT
//   new_array.cpp         STRING_FORMAT, CODECS, DIM_SEPARATOR; puts it all together
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "driver/gdal/compat.h"
#include "driver/new_array/creation_options.h"
#include "zarrcore/metadata/array_metadata.h"
#include "zarrcore/metadata/codec_metadata.h"
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

// The parts that make_array_metadata() puts together.

// Strings of a known maximum length have fixed length where the format prefers that, unless
// STRING_FORMAT overrides it; as fields of structures they always have. A compound becomes a
// structure without padding.
//
// Throws zarrcore::Error when Zarr has no such type, and on strings of unknown length in a
// compound.
zarrcore::DataType stored_type(const GDALExtendedDataType& type,
                               const zarrcore::NewArrayRules& rules,
                               const CreationOptions& options);

struct ChunkLayout {
  zarrcore::Shape chunk_shape;
  // If set, chunks are shards of inner chunks of this shape, which divides chunk_shape.
  std::optional<zarrcore::Shape> inner_shape;

  // The shape that a codec compresses at once.
  const zarrcore::Shape& compressed_shape() const {
    return inner_shape ? *inner_shape : chunk_shape;
  }
};

// The smallest multiples of the lengths of `inner` (none of them 0) that are at least as long as
// `shape`. Nullopt if one exceeds 2^64.
std::optional<zarrcore::Shape> multiples_of(const zarrcore::Shape& inner, zarrcore::Shape shape);

// The chunks and shards, by the options BLOCKSIZE, SHARD_CHUNK_SHAPE, CHUNKS, SHARDING, ACCESS,
// CHUNK_ASPECT_RATIO and CHUNK_ELEMENTS. No length is zero, even if the array's is. `item_size` is
// in bytes. Throws zarrcore::Error on options that contradict each other or do not fit the array.
ChunkLayout make_chunk_layout(const NewArray& array, std::uint64_t item_size,
                              const CreationOptions& options);

// The codecs for elements of `type`, by the options COMPRESS, FILTER, KEEPBITS, CHECKSUM,
// CHUNK_MEMORY_LAYOUT and each compressor's options; and the sharding of its layout. Throws
// zarrcore::Error on options that contradict each other or do not fit the type, and on chunks too
// large for their compressor.
std::vector<zarrcore::CodecMetadata> make_new_codecs(const zarrcore::DataType& type,
                                                     const ChunkLayout& layout,
                                                     const zarrcore::NewArrayRules& rules,
                                                     const CreationOptions& options);

}  // namespace gdal_zarr
