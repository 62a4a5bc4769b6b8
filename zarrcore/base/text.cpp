#include "zarrcore/base/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <locale>
#include <sstream>

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

double parse_float(std::string_view text) {
  if (const auto number = parse_number<double>(text)) return *number;
  // Infinity, or too small to differ from zero: the digits before the exponent do not tell.
  std::istringstream stream{std::string(text)};
  stream.imbue(std::locale::classic());
  double number = 0;
  stream >> number;
  if (std::abs(number) <= 1) return number;
  return std::copysign(std::numeric_limits<double>::infinity(), number);
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

}  // namespace zarrcore
