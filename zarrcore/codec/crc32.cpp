// The `crc32` and `adler32` codecs of numcodecs: zlib's two checksums (RFC 1952, section 8, and RFC
// 1950, section 9), before the payload unless `location` is "end". And the `crc32c` codec (v3
// codecs, "crc32c", RFC 3720): after it, in numcodecs unless `location` is "start".
#include <libdeflate.h>

#include "zarrcore/base/crc32c.h"
#include "zarrcore/codec/checksum.h"
#include "zarrcore/codec/codec.h"

namespace zarrcore {

std::uint32_t crc32(ByteSpan bytes) {
  return libdeflate_crc32(0, bytes.data(), bytes.size());
}

Codec make_crc32(const Json& configuration, const ChunkSpec& /*spec*/) {
  return make_checksum_codec("crc32", configuration, ChecksumLocation::start, crc32);
}

Codec make_adler32(const Json& configuration, const ChunkSpec& /*spec*/) {
  return make_checksum_codec("adler32", configuration, ChecksumLocation::start, [](ByteSpan bytes) {
    return libdeflate_adler32(1, bytes.data(), bytes.size());
  });
}

Codec make_crc32c(const Json& configuration, const ChunkSpec& /*spec*/) {
  return make_checksum_codec("crc32c", configuration, ChecksumLocation::end, crc32c);
}

}  // namespace zarrcore
