// Small functions on text that many readers of metadata, options and chunks need; the encodings
// UTF-8 (RFC 3629) and Base64 (RFC 4648, section 4).
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "zarrcore/base/buffer.h"

namespace zarrcore {

// Of ASCII alone, whatever the locale is.
constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Copies `text` with ASCII letters in lower case.
std::string lower_case(std::string_view text);

// Returns `text` without any `c` at its end.
constexpr std::string_view without_trailing(std::string_view text, char c) {
  return text.substr(0, text.find_last_not_of(c) + 1);
}

// The words of a text that are separated by spaces, tabs or new lines.
std::vector<std::string> words_of(std::string_view text);

// Writes a shape for people: "256,256", "3x1080x1920".
std::string shape_text(std::span<const std::uint64_t> shape, std::string_view separator);

// Removes the number at the start of `text` and returns it. If there is no number, or it does not
// fit the type, returns nullopt and leaves `text` unchanged.
template <typename Number>
std::optional<Number> take_number(std::string_view& text) {
  Number number{};
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  return number;
}

// Reads all of `text` as a number; nullopt when it is anything else.
template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  const auto number = take_number<Number>(text);
  return text.empty() ? number : std::nullopt;
}

// A hash of a text (FNV-1a, 64 bits), which is the same in all processes; or, with that of what
// precedes it, of both.
constexpr std::uint64_t fnv1a(std::string_view text, std::uint64_t hash = 0xcbf29ce484222325) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

// Reads a decimal float, such as 1.5 or -1E400, in any locale: infinite if it is too large.
double parse_float(std::string_view text);

// Reads all of `text` as the digits of a number in a base from 2 to 16.
std::optional<std::uint64_t> parse_digits(std::string_view text, int base);

// --- Encodings -----------------------------------------------------------------------------------

// Returns true if the bytes are UTF-8: no overlong forms, no surrogates, nothing past U+10FFFF.
bool is_utf8(std::string_view text);

// The code points of `text`, which must be UTF-8; the JSON parser has checked that.
std::u32string decode_utf8(std::string_view text);

// The inverse, for code points of 4 bytes each in the host's order. Throws Error when one of them
// is a surrogate or not in Unicode.
std::string encode_utf8(ByteSpan code_points);

// Returns nullopt when `text` is not base64; missing padding at the end is accepted.
std::optional<std::vector<std::byte>> decode_base64(std::string_view text);

std::string encode_base64(ByteSpan bytes);

}  // namespace zarrcore
