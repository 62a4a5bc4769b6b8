// The parts of a new array's metadata that make_array_metadata() puts together: the data type
// (stored_type.cpp), chunks and shards (chunk_layout.cpp), and codecs (new_codecs.cpp).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "driver/new_array/creation_options.h"
#include "driver/new_array/new_array.h"
#include "zarrcore/metadata/codec_metadata.h"

namespace gdal_zarr {

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
