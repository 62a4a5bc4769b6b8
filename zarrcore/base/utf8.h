// UTF-8, in which texts stand in documents, from and to code points.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace zarrcore {

// The code points of `text`, which is UTF-8: the JSON parser has seen to that.
inline std::u32string decode_utf8(std::string_view text) {
  std::u32string code_points;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xc0u) == 0x80u && !code_points.empty()) {
      code_points.back() = code_points.back() << 6 | (byte & 0x3fu);
    } else {
      const unsigned mask = byte < 0x80u ? 0x7fu : byte < 0xe0u ? 0x1fu : byte < 0xf0u ? 0x0fu : 7u;
      code_points.push_back(byte & mask);
    }
  }
  return code_points;
}

// Appends `code_point`, which is one of Unicode and no surrogate.
inline void append_utf8(std::string& text, std::uint32_t code_point) {
  if (code_point < 0x80) {
    text += static_cast<char>(code_point);
    return;
  }
  const int continuations = code_point < 0x800 ? 1 : code_point < 0x10000 ? 2 : 3;
  constexpr std::uint32_t kLeads[] = {0, 0xc0, 0xe0, 0xf0};
  text += static_cast<char>(kLeads[continuations] | code_point >> (6 * continuations));
  for (int i = continuations; i-- > 0;) {
    text += static_cast<char>(0x80u | (code_point >> (6 * i) & 0x3fu));
  }
}

}  // namespace zarrcore
