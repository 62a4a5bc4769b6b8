// The chunks and shards of a new array, by the options BLOCKSIZE, SHARD_CHUNK_SHAPE, CHUNKS,
// SHARDING and ACCESS.
#pragma once

#include <cstdint>
#include <optional>

#include "driver/new_array/array_description.h"

namespace gdal_zarr {

class CreationOptions;

struct ChunkLayout {
  zarrcore::Shape chunk_shape;
  // If set, chunks are shards of inner chunks of this shape, which divides chunk_shape.
  std::optional<zarrcore::Shape> inner_shape;

  // Of what a codec compresses at once.
  const zarrcore::Shape& compressed_shape() const {
    return inner_shape ? *inner_shape : chunk_shape;
  }
};

// No length is zero, even if the array's is. `item_size` is in bytes. Throws zarrcore::Error on
// options that contradict each other or do not fit the array.
ChunkLayout make_chunk_layout(const NewArray& array, std::uint64_t item_size,
                              const CreationOptions& options);

}  // namespace gdal_zarr
