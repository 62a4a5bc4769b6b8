#include "zarrcore/base/text_encoding.h"

#include <algorithm>
#include <array>

#include "zarrcore/base/endian.h"
#include "zarrcore/base/error.h"

namespace zarrcore {
namespace {

constexpr std::string_view kBase64Alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<std::int16_t, 256> make_values() {
  std::array<std::int16_t, 256> values{};
  values.fill(-1);
  for (std::size_t i = 0; i < kBase64Alphabet.size(); ++i) {
    values[static_cast<unsigned char>(kBase64Alphabet[i])] = static_cast<std::int16_t>(i);
  }
  return values;
}
constexpr auto kValues = make_values();

}  // namespace

std::optional<std::vector<std::byte>> decode_base64(std::string_view text) {
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  if (text.size() % 4 == 1) return std::nullopt;
  std::vector<std::byte> bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const int value = kValues[static_cast<unsigned char>(c)];
    if (value < 0) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    held += 6;
    if (held >= 8) {
      held -= 8;
      bytes.push_back(static_cast<std::byte>(bits >> held & 0xff));
    }
  }
  return bytes;
}

std::string encode_base64(ByteSpan bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t bits = 0;
    const std::size_t present = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t k = 0; k < 3; ++k) {
      bits = bits << 8 | (k < present ? std::to_integer<std::uint32_t>(bytes[i + k]) : 0);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text.push_back(k <= present ? kBase64Alphabet[bits >> (18 - 6 * k) & 63] : '=');
    }
  }
  return text;
}

void append_utf8(std::string& text, std::uint32_t code_point) {
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

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto unit = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const unsigned lead = unit(i);
    if (lead < 0x80) {
      ++i;
      continue;
    }
    // A narrower range of the second byte excludes overlong forms, surrogates and code points past
    // the last.
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

std::u32string decode_utf8(std::string_view text) {
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

std::string encode_utf8(ByteSpan code_points) {
  std::string text;
  for (std::size_t i = 0; i + sizeof(char32_t) <= code_points.size(); i += sizeof(char32_t)) {
    const auto code_point = load_integer<std::uint32_t>(code_points.data() + i, kHostEndian);
    if (code_point > 0x10ffff || (code_point >= 0xd800 && code_point < 0xe000)) {
      throw Error(std::to_string(code_point) + " is not a code point of a character");
    }
    append_utf8(text, code_point);
  }
  return text;
}

}  // namespace zarrcore
