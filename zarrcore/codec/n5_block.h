// The header of an N5 block (N5 specification, "the chunk format"): a mode and the rank, 16 bits
// each, then the block's lengths, 32 bits each, all big-endian. In mode 1, the number of elements
// follows. After the header come the block's elements, big-endian and compressed. Each block states
// its shape, because blocks at the edge of an array may be smaller.
#pragma once

#include <vector>

#include "zarrcore/base/buffer.h"
#include "zarrcore/base/strided.h"
#include "zarrcore/dtype/data_type.h"
#include "zarrcore/metadata/codec_metadata.h"

namespace zarrcore {

struct N5BlockHeader {
  Shape shape;           // in the order in which the header has it
  std::size_t size = 0;  // of the header, in bytes
};

// Throws Error when the block is too short, does not have `rank` dimensions, or has elements of
// varying length (mode 2, or mode 1 with another number of elements than its shape has).
N5BlockHeader parse_n5_block_header(ByteSpan block, std::size_t rank);

// The header, in mode 0. Throws Error when a length has more than 32 bits.
Buffer make_n5_block_header(const Shape& shape);

// The codecs of the elements of `n5_default`, which are transpose codecs, `bytes`, and codecs of
// bytes: with `bytes`, big-endian, where they leave it or its byte order out. Throws Error if they
// state that it is little-endian.
std::vector<CodecMetadata> with_n5_bytes(std::vector<CodecMetadata> codecs, const DataType& type);

}  // namespace zarrcore
