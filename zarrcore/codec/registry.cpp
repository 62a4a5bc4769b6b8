#include "zarrcore/codec/registry.h"

#include "zarrcore/codec/codecs.h"

namespace zarrcore {
namespace {

struct Entry {
  std::string_view name;
  CodecFactory make;
};

// `numcodecs.` names are those of v2 filters and compressors, and of v3 arrays that use them.
constexpr Entry kCodecs[] = {
    {"bitround", make_bitround},
    {"blosc", make_blosc},
    {"bytes", make_bytes},
    {"cast_value", make_cast_value},
    {"crc32c", make_crc32c},
    {"endian", make_bytes},  // an older name
    {"gzip", make_gzip},
    {"numcodecs.adler32", make_adler32},
    {"numcodecs.astype", make_astype},
    {"numcodecs.base64", make_base64},
    {"numcodecs.bitround", make_bitround},
    {"numcodecs.blosc", make_blosc},
    {"numcodecs.bz2", make_bz2},
    {"numcodecs.categorize", make_categorize},
    {"numcodecs.crc32", make_crc32},
    {"numcodecs.crc32c", make_crc32c},
    {"numcodecs.delta", make_delta},
    {"numcodecs.fixedscaleoffset", make_fixedscaleoffset},
    {"numcodecs.fletcher32", make_fletcher32},
    {"numcodecs.gzip", make_gzip},
    {"numcodecs.jenkins_lookup3", make_jenkins_lookup3},
    {"numcodecs.json2", make_json2},
    {"numcodecs.lz4", make_lz4},
    {"numcodecs.lzma", make_lzma},
    {"numcodecs.msgpack2", make_msgpack2},
    {"numcodecs.packbits", make_numcodecs_packbits},
    {"numcodecs.quantize", make_quantize},
    {"numcodecs.shuffle", make_shuffle},
    {"numcodecs.vlen-bytes", make_vlen_bytes},
    {"numcodecs.vlen-utf8", make_vlen_utf8},
    {"numcodecs.zfpy", make_zfpy},
    {"numcodecs.zlib", make_zlib},
    {"numcodecs.zstd", make_zstd},
    {"packbits", make_packbits},
    {"reshape", make_reshape},
    {"scale_offset", make_scale_offset},
    {"sharding_indexed", make_sharding},
    {"transpose", make_transpose},
    {"vlen-bytes", make_vlen_bytes},
    {"vlen-utf8", make_vlen_utf8},
    {"zfp", make_zfp},
    {"zlib", make_zlib},
    {"zstd", make_zstd},
};

// Codecs of numcodecs that are not here, and why.
struct Refusal {
  std::string_view name;
  std::string_view reason;
};
constexpr Refusal kRefusals[] = {
    {"numcodecs.imagecodecs_tiff",
     "it needs the library imagecodecs, which this build does not have"},
    {"numcodecs.pcodec", "it needs the library pcodec, which this build does not have"},
    {"numcodecs.pickle", "to decode it could run any code"},
    {"numcodecs.vlen-array", "elements that are arrays have no counterpart here"},
};

}  // namespace

CodecFactory find_codec(std::string_view name) {
  for (const Entry& entry : kCodecs) {
    if (entry.name == name) return entry.make;
  }
  return nullptr;
}

std::string_view refusal_reason(std::string_view name) {
  for (const Refusal& refusal : kRefusals) {
    if (refusal.name == name) return refusal.reason;
  }
  return {};
}

}  // namespace zarrcore
