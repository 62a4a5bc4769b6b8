// A numcodecs filter among array-to-array codecs, where v3 chains put it.
#pragma once

#include "zarrcore/codec/codec.h"

namespace zarrcore {

// An array-to-array codec that runs `filter` over the elements of chunks of `spec` in C order. As
// in zarr-python, a filter views the bytes that it gets: those of elements in the order
// `input_endian`, which is the host's unless another filter made them.
std::unique_ptr<const ArrayToArrayCodec> make_array_filter(std::unique_ptr<const Filter> filter,
                                                           const ChunkSpec& spec,
                                                           Endian input_endian);

}  // namespace zarrcore
