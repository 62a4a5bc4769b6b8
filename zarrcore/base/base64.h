// Base64 (RFC 4648, section 4), the form of bytes in v2 and v3 metadata.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "zarrcore/base/buffer.h"

namespace zarrcore {

// Returns nullopt when `text` is not base64; missing padding at the end is accepted.
std::optional<std::vector<std::byte>> decode_base64(std::string_view text);

std::string encode_base64(ByteSpan bytes);

}  // namespace zarrcore
