// The CRC-32C checksum (RFC 3720, appendix B.4).
#pragma once

#include <cstdint>

#include "zarrcore/base/buffer.h"

namespace zarrcore {

// By ISA-L, or by tables where that library does not exist.
std::uint32_t crc32c(ByteSpan bytes);

}  // namespace zarrcore
