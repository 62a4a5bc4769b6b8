// The gzip and zlib codecs: DEFLATE data (RFC 1951) in one of two wrappers.
#pragma once

#include <string>

#include "zarrcore/base/json.h"
#include "zarrcore/codec/codec.h"

namespace zarrcore {

enum class DeflateWrapper : std::uint8_t {
  gzip,  // RFC 1952; members may follow each other
  zlib,  // RFC 1950
};

// Configuration: `level`, 0 (stored) to 9 (smallest), -1 for zlib's default; larger levels count
// as 9. The default is 1, as in numcodecs.
Codec make_deflate_codec(DeflateWrapper wrapper, const Json& configuration);

}  // namespace zarrcore
