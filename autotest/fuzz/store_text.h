// A store as one text, which a fuzzer can change: each value after its key, which has a line of its
// own, and kSeparator between each two.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "autotest/fuzz/input.h"

namespace zarrcore::fuzz {

using StoreValues = std::map<std::string, std::string, std::less<>>;

inline constexpr std::string_view kSeparator = "\n----\n";

inline StoreValues parse_store_text(std::string_view text) {
  StoreValues values;
  Input input(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  while (!input.is_empty()) {
    const std::string_view entry = input.until(kSeparator);
    const std::size_t end = entry.find('\n');
    if (end == std::string_view::npos) continue;
    values[std::string(entry.substr(0, end))] = entry.substr(end + 1);
  }
  return values;
}

inline std::string make_store_text(const StoreValues& values) {
  std::string text;
  for (const auto& [key, value] : values) {
    if (!text.empty()) text += kSeparator;
    text.append(key).append("\n").append(value);
  }
  return text;
}

}  // namespace zarrcore::fuzz
