// How a new array is cut into chunks, and chunks of shards: by the options BLOCKSIZE,
// SHARD_CHUNK_SHAPE, CHUNKS, SHARDING and ACCESS.
#pragma once

#include <cstdint>
#include <optional>

#include "driver/new_array/new_array.h"

namespace gdal_zarr {

class CreationOptions;

struct ChunkLayout {
  zarrcore::Shape chunk_shape;
  // With it, chunks are shards of such inner chunks, of which they have a whole number along each
  // dimension.
  std::optional<zarrcore::Shape> inner_shape;

  const zarrcore::Shape& block_shape() const { return inner_shape ? *inner_shape : chunk_shape; }
};

// No length is zero, even where the array's is. `item_size` is in bytes. Throws zarrcore::Error on
// options that contradict each other or do not fit the array.
ChunkLayout make_chunk_layout(const NewArray& array, std::uint64_t item_size,
                              const CreationOptions& options);

}  // namespace gdal_zarr
