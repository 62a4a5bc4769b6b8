// The functions that make codecs, each in a file of its own name; see registry.h.
#pragma once

#include "zarrcore/base/json.h"
#include "zarrcore/codec/codec.h"

namespace zarrcore {

Codec make_blosc(const Json& configuration, const ChunkSpec& spec);
Codec make_bytes(const Json& configuration, const ChunkSpec& spec);
Codec make_crc32c(const Json& configuration, const ChunkSpec& spec);
Codec make_gzip(const Json& configuration, const ChunkSpec& spec);
Codec make_sharding(const Json& configuration, const ChunkSpec& spec);
Codec make_transpose(const Json& configuration, const ChunkSpec& spec);
Codec make_zlib(const Json& configuration, const ChunkSpec& spec);
Codec make_zstd(const Json& configuration, const ChunkSpec& spec);

// Gives integers of `bits` bits, each in the low bits of a byte, the value of the whole byte.
void extend_narrow_integers(MutableByteSpan elements, std::uint8_t bits, bool is_signed);

}  // namespace zarrcore
