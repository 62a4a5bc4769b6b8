// A numcodecs filter as an array-to-array codec, which it is in v3 chains.
#pragma once

#include "zarrcore/codec/codec.h"

namespace zarrcore {

// Makes an array-to-array codec that applies `filter` to the elements of chunks of `spec` in C
// order. As in zarr-python, a filter sees bytes: those of elements in the byte order
// `input_endian`, which is little unless another filter made them: a store means the same wherever
// it is read.
std::unique_ptr<const ArrayToArrayCodec> make_array_filter(std::unique_ptr<const Filter> filter,
                                                           const ChunkSpec& spec,
                                                           Endian input_endian);

}  // namespace zarrcore
