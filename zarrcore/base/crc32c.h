// The CRC-32C checksum (RFC 3720, appendix B.4).
#pragma once

#include <cstdint>

#include "zarrcore/base/buffer.h"

namespace zarrcore {

// Uses the processor's instruction, or tables if the processor has none.
std::uint32_t crc32c(ByteSpan bytes);

// Always by tables, for tests.
std::uint32_t crc32c_by_tables(ByteSpan bytes);

}  // namespace zarrcore
