// Checksums; the codecs that use them are in checksum.cpp.
#pragma once

#include <cstdint>

#include "zarrcore/base/buffer.h"

namespace zarrcore {

// CRC-32 as in RFC 1952, section 8.
std::uint32_t crc32(ByteSpan bytes);

// CRC-32C (RFC 3720, appendix B.4). Uses the processor's instruction, or tables if the processor
// has none.
std::uint32_t crc32c(ByteSpan bytes);
// Always by tables, for tests.
std::uint32_t crc32c_by_tables(ByteSpan bytes);

}  // namespace zarrcore
