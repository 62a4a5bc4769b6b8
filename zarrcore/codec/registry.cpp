#include "zarrcore/codec/registry.h"

#include <atomic>

// A line for each name: `numcodecs.` names are those of v2 filters and compressors, and of v3
// arrays that use them; `endian` is an older name of `bytes`.
// clang-format off
#define ZARRCORE_CODECS(CODEC)                               \
  CODEC("bitround", make_bitround)                           \
  CODEC("blosc", make_blosc)                                 \
  CODEC("bytes", make_bytes)                                 \
  CODEC("cast_value", make_cast_value)                       \
  CODEC("crc32c", make_crc32c)                               \
  CODEC("endian", make_bytes)                                \
  CODEC("gzip", make_gzip)                                   \
  CODEC("numcodecs.adler32", make_adler32)                   \
  CODEC("numcodecs.astype", make_astype)                     \
  CODEC("numcodecs.base64", make_base64)                     \
  CODEC("numcodecs.bitround", make_bitround)                 \
  CODEC("numcodecs.blosc", make_blosc)                       \
  CODEC("numcodecs.bz2", make_bz2)                           \
  CODEC("numcodecs.categorize", make_categorize)             \
  CODEC("numcodecs.crc32", make_crc32)                       \
  CODEC("numcodecs.crc32c", make_crc32c)                     \
  CODEC("numcodecs.delta", make_delta)                       \
  CODEC("numcodecs.fixedscaleoffset", make_fixedscaleoffset) \
  CODEC("numcodecs.fletcher32", make_fletcher32)             \
  CODEC("numcodecs.gzip", make_gzip)                         \
  CODEC("numcodecs.jenkins_lookup3", make_jenkins_lookup3)   \
  CODEC("numcodecs.json2", make_json2)                       \
  CODEC("numcodecs.lz4", make_lz4)                           \
  CODEC("numcodecs.lzma", make_lzma)                         \
  CODEC("numcodecs.msgpack2", make_msgpack2)                 \
  CODEC("numcodecs.packbits", make_numcodecs_packbits)       \
  CODEC("numcodecs.quantize", make_quantize)                 \
  CODEC("numcodecs.shuffle", make_shuffle)                   \
  CODEC("numcodecs.vlen-bytes", make_vlen_bytes)             \
  CODEC("numcodecs.vlen-utf8", make_vlen_utf8)               \
  CODEC("numcodecs.zfpy", make_zfpy)                         \
  CODEC("numcodecs.zlib", make_zlib)                         \
  CODEC("numcodecs.zstd", make_zstd)                         \
  CODEC("packbits", make_packbits)                           \
  CODEC("reshape", make_reshape)                             \
  CODEC("scale_offset", make_scale_offset)                   \
  CODEC("sharding_indexed", make_sharding)                   \
  CODEC("transpose", make_transpose)                         \
  CODEC("vlen-bytes", make_vlen_bytes)                       \
  CODEC("vlen-utf8", make_vlen_utf8)                         \
  CODEC("zfp", make_zfp)                                     \
  CODEC("zlib", make_zlib)                                   \
  CODEC("zstd", make_zstd)
// clang-format on

namespace zarrcore {

#define ZARRCORE_DECLARE(name, make) Codec make(const Json& configuration, const ChunkSpec& spec);
ZARRCORE_CODECS(ZARRCORE_DECLARE)
#undef ZARRCORE_DECLARE

namespace {

struct Entry {
  std::string_view name;
  CodecFactory make;
};

#define ZARRCORE_ENTRY(name, make) Entry{name, make},
constexpr Entry kCodecs[] = {ZARRCORE_CODECS(ZARRCORE_ENTRY)};
#undef ZARRCORE_ENTRY

// Codecs of numcodecs that are not here, and why.
struct Refusal {
  std::string_view name;
  std::string_view reason;
};
constexpr Refusal kRefusals[] = {
    {"numcodecs.imagecodecs_tiff", "its chunks are TIFF files, which the core does not read"},
    {"numcodecs.pcodec", "it needs the library pcodec, which this build does not have"},
    {"numcodecs.pickle", "to decode it could run any code"},
    {"numcodecs.vlen-array", "elements that are arrays have no counterpart here"},
};

std::atomic<CodecProvider> additional_codecs{nullptr};

}  // namespace

CodecFactory find_codec(std::string_view name) {
  for (const Entry& entry : kCodecs) {
    if (entry.name == name) return entry.make;
  }
  const CodecProvider provider = additional_codecs;
  return provider != nullptr ? provider(name) : nullptr;
}

void set_codec_provider(CodecProvider provider) {
  additional_codecs = provider;
}

std::string_view refusal_reason(std::string_view name) {
  for (const Refusal& refusal : kRefusals) {
    if (refusal.name == name) return refusal.reason;
  }
  return {};
}

}  // namespace zarrcore
