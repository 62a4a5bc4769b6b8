// The functions that make codecs, each in a file of its own name; see registry.h.
#pragma once

#include "zarrcore/base/json.h"
#include "zarrcore/codec/codec.h"

namespace zarrcore {

Codec make_adler32(const Json& configuration, const ChunkSpec& spec);
Codec make_astype(const Json& configuration, const ChunkSpec& spec);
Codec make_base64(const Json& configuration, const ChunkSpec& spec);
Codec make_bitround(const Json& configuration, const ChunkSpec& spec);
Codec make_blosc(const Json& configuration, const ChunkSpec& spec);
Codec make_bytes(const Json& configuration, const ChunkSpec& spec);
Codec make_bz2(const Json& configuration, const ChunkSpec& spec);
Codec make_cast_value(const Json& configuration, const ChunkSpec& spec);
Codec make_categorize(const Json& configuration, const ChunkSpec& spec);
Codec make_crc32(const Json& configuration, const ChunkSpec& spec);
Codec make_crc32c(const Json& configuration, const ChunkSpec& spec);
Codec make_delta(const Json& configuration, const ChunkSpec& spec);
Codec make_fixedscaleoffset(const Json& configuration, const ChunkSpec& spec);
Codec make_fletcher32(const Json& configuration, const ChunkSpec& spec);
Codec make_gzip(const Json& configuration, const ChunkSpec& spec);
Codec make_jenkins_lookup3(const Json& configuration, const ChunkSpec& spec);
Codec make_json2(const Json& configuration, const ChunkSpec& spec);
Codec make_lz4(const Json& configuration, const ChunkSpec& spec);
Codec make_lzma(const Json& configuration, const ChunkSpec& spec);
Codec make_msgpack2(const Json& configuration, const ChunkSpec& spec);
Codec make_numcodecs_packbits(const Json& configuration, const ChunkSpec& spec);
Codec make_packbits(const Json& configuration, const ChunkSpec& spec);
Codec make_quantize(const Json& configuration, const ChunkSpec& spec);
Codec make_reshape(const Json& configuration, const ChunkSpec& spec);
Codec make_scale_offset(const Json& configuration, const ChunkSpec& spec);
Codec make_sharding(const Json& configuration, const ChunkSpec& spec);
Codec make_shuffle(const Json& configuration, const ChunkSpec& spec);
Codec make_transpose(const Json& configuration, const ChunkSpec& spec);
Codec make_vlen_bytes(const Json& configuration, const ChunkSpec& spec);
Codec make_vlen_utf8(const Json& configuration, const ChunkSpec& spec);
Codec make_zfp(const Json& configuration, const ChunkSpec& spec);
Codec make_zfpy(const Json& configuration, const ChunkSpec& spec);
Codec make_zlib(const Json& configuration, const ChunkSpec& spec);
Codec make_zstd(const Json& configuration, const ChunkSpec& spec);

// Gives integers of `bits` bits, each in the low bits of a byte, the value of the whole byte.
void extend_narrow_integers(MutableByteSpan elements, std::uint8_t bits, bool is_signed);

}  // namespace zarrcore
