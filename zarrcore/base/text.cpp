#include "zarrcore/base/text.h"

#include <algorithm>
#include <charconv>
#include <limits>

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

}  // namespace zarrcore
