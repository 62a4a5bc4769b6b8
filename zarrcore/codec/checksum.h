// What the checksum codecs are: the payload as it is, and 4 bytes of checksum, little-endian,
// before or behind it.
#pragma once

#include <functional>
#include <string>

#include "zarrcore/base/json.h"
#include "zarrcore/codec/codec.h"

namespace zarrcore {

enum class ChecksumLocation : std::uint8_t { start, end };

// The member `location`, which numcodecs has for some of them; `fallback` when it is absent or
// null.
ChecksumLocation checksum_location_option(const Json& configuration, ChecksumLocation fallback);

// `name` begins the errors.
Codec make_checksum_codec(std::string name, ChecksumLocation location,
                          std::function<std::uint32_t(ByteSpan)> checksum);

}  // namespace zarrcore
