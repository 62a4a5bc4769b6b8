// The `crc32c` codec (v3 codecs, "crc32c", RFC 3720): the checksum follows the payload. In
// numcodecs it can also precede it.
#include <isa-l/crc.h>

#include <algorithm>
#include <limits>

#include "zarrcore/codec/checksum.h"
#include "zarrcore/codec/codec.h"

namespace zarrcore {
namespace {

std::uint32_t crc32c(ByteSpan bytes) {
  std::uint32_t crc = 0xffffffffu;
  while (!bytes.empty()) {
    // The library counts bytes with an int, and its parameter lacks a const.
    const auto count = std::min<std::size_t>(bytes.size(), std::numeric_limits<int>::max());
    auto* data = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(bytes.data()));
    crc = crc32_iscsi(data, static_cast<int>(count), crc);
    bytes = bytes.subspan(count);
  }
  return ~crc;
}

}  // namespace

Codec make_crc32c(const Json& configuration, const ChunkSpec& /*spec*/) {
  return make_checksum_codec(
      "crc32c", checksum_location_option(configuration, ChecksumLocation::end), crc32c);
}

}  // namespace zarrcore
