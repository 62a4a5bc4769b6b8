#include "zarrcore/base/utf8_check.h"

#include <cstddef>

namespace zarrcore {

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto unit = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const unsigned lead = unit(i);
    if (lead < 0x80) {
      ++i;
      continue;
    }
    // What the lead leaves open is excluded by a narrower range of the second byte.
    std::size_t length = 0;
    unsigned low = 0x80;
    unsigned high = 0xbf;
    if (lead >= 0xc2 && lead <= 0xdf) {
      length = 2;
    } else if (lead >= 0xe0 && lead <= 0xef) {
      length = 3;
      if (lead == 0xe0) low = 0xa0;
      if (lead == 0xed) high = 0x9f;
    } else if (lead >= 0xf0 && lead <= 0xf4) {
      length = 4;
      if (lead == 0xf0) low = 0x90;
      if (lead == 0xf4) high = 0x8f;
    }
    if (length == 0 || length > text.size() - i) return false;
    if (unit(i + 1) < low || unit(i + 1) > high) return false;
    for (std::size_t k = 2; k < length; ++k) {
      if ((unit(i + k) & 0xc0) != 0x80) return false;
    }
    i += length;
  }
  return true;
}

}  // namespace zarrcore
