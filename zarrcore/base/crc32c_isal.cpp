#include <isa-l/crc.h>

#include <algorithm>
#include <limits>

#include "zarrcore/base/crc32c.h"

namespace zarrcore {

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

}  // namespace zarrcore
