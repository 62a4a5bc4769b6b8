// Checksum codecs: the unchanged payload, preceded or followed by 4 bytes of checksum,
// little-endian.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "zarrcore/base/json.h"
#include "zarrcore/codec/codec.h"

namespace zarrcore {

// CRC-32 as in RFC 1952, section 8.
std::uint32_t crc32(ByteSpan bytes);

// Messages start with `name`. The place of the checksum is the member `location` that some of them
// have in numcodecs; `fallback` when it is missing or null, and for the others, which have no
// configuration.
enum class ChecksumLocation : bool { start, end };
Codec make_checksum_codec(std::string name, const Json& configuration, ChecksumLocation fallback,
                          std::function<std::uint32_t(ByteSpan)> checksum);

}  // namespace zarrcore
