#include "zarrcore/base/endian.h"

#include <algorithm>

namespace zarrcore {
namespace {

// A fixed size lets the compiler turn the reversal into byte-swap (or vector shuffle) instructions.
template <std::size_t kSize>
void swap_units(MutableByteSpan bytes) {
  for (std::size_t i = 0; i + kSize <= bytes.size(); i += kSize) {
    std::byte unit[kSize];
    std::memcpy(unit, bytes.data() + i, kSize);
    std::reverse(unit, unit + kSize);
    std::memcpy(bytes.data() + i, unit, kSize);
  }
}

}  // namespace

void swap_bytes(MutableByteSpan bytes, std::uint64_t unit_size) {
  switch (unit_size) {
    case 2:
      return swap_units<2>(bytes);
    case 4:
      return swap_units<4>(bytes);
    case 8:
      return swap_units<8>(bytes);
    case 16:
      return swap_units<16>(bytes);
    default:
      return;
  }
}

}  // namespace zarrcore
