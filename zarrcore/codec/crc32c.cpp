// The `crc32c` codec (v3 codecs, "crc32c", RFC 3720): the checksum follows the payload. In
// numcodecs it can also precede it.
#include "zarrcore/base/crc32c.h"

#include "zarrcore/codec/checksum.h"
#include "zarrcore/codec/codec.h"

namespace zarrcore {

Codec make_crc32c(const Json& configuration, const ChunkSpec& /*spec*/) {
  return make_checksum_codec(
      "crc32c", checksum_location_option(configuration, ChecksumLocation::end), crc32c);
}

}  // namespace zarrcore
