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

}  // namespace zarrcore
