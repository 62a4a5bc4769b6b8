#include "zarrcore/base/text.h"

#include <algorithm>
#include <charconv>

namespace zarrcore {

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

std::string shape_text(std::span<const std::uint64_t> shape, std::string_view separator) {
  std::string text;
  for (const std::uint64_t length : shape) {
    if (!text.empty()) text += separator;
    text += std::to_string(length);
  }
  return text;
}

}  // namespace zarrcore
