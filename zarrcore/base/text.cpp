#include "zarrcore/base/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

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

// Appends a code point of Unicode.
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

}  // namespace

std::string lower_case(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return result;
}

std::optional<std::uint64_t> parse_digits(std::string_view text, int base) {
  std::uint64_t number = 0;
  const char* first = text.data();
  const char* end = first + text.size();
  const auto [stop, error] = std::from_chars(first, end, number, base);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

double parse_float(std::string_view text) {
  if (const auto number = parse_number<double>(text)) return *number;
  // Too large, or too small to differ from zero: the position of the first digit decides.
  constexpr std::int64_t kMost = std::int64_t{1} << 62;
  const std::size_t end = std::min(text.find_first_of("eE"), text.size());
  const std::string_view digits = text.substr(0, end);
  const std::size_t point = std::min(digits.find('.'), end);
  const std::size_t first = std::min(digits.find_first_of("123456789"), end);
  std::string_view exponent = text.substr(std::min(end + 1, text.size()));
  if (exponent.starts_with('+')) exponent.remove_prefix(1);
  const std::int64_t otherwise = exponent.empty() ? 0 : exponent.starts_with('-') ? -kMost : kMost;
  const auto shift = take_number<std::int64_t>(exponent).value_or(otherwise);
  const auto places = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first);
  const bool is_large = places + std::clamp(shift, -kMost, kMost) > 0;
  const double number = is_large ? std::numeric_limits<double>::infinity() : 0;
  return text.starts_with('-') ? -number : number;
}

std::vector<std::string> words_of(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\r\n\v\f";
  std::vector<std::string> words;
  for (std::size_t start = text.find_first_not_of(kSpaces); start != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(kSpaces, start), text.size());
    words.emplace_back(text.substr(start, end - start));
    start = text.find_first_not_of(kSpaces, end);
  }
  return words;
}

std::string shape_text(std::span<const std::uint64_t> shape, std::string_view separator) {
  std::string text;
  for (const std::uint64_t length : shape) {
    if (!text.empty()) text += separator;
    text += std::to_string(length);
  }
  return text;
}

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
