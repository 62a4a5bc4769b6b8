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
    {"blosc", make_blosc},
    {"bytes", make_bytes},
    {"crc32c", make_crc32c},
    {"endian", make_bytes},  // an older name
    {"gzip", make_gzip},
    {"numcodecs.blosc", make_blosc},
    {"numcodecs.crc32c", make_crc32c},
    {"numcodecs.gzip", make_gzip},
    {"numcodecs.zlib", make_zlib},
    {"numcodecs.zstd", make_zstd},
    {"sharding_indexed", make_sharding},
    {"transpose", make_transpose},
    {"zlib", make_zlib},
    {"zstd", make_zstd},
};

}  // namespace

CodecFactory find_codec(std::string_view name) {
  for (const Entry& entry : kCodecs) {
    if (entry.name == name) return entry.make;
  }
  return nullptr;
}

}  // namespace zarrcore
