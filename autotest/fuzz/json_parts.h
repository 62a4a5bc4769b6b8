// Where the values of a JSON document stand in its text.
#pragma once

#include <string_view>
#include <vector>

namespace zarrcore::fuzz {

// The strings (including names of members), numbers, words, lists and objects of `json`, which is
// valid, in the order in which they end.
inline std::vector<std::string_view> json_parts(std::string_view json) {
  std::vector<std::string_view> parts;
  std::vector<std::size_t> open;
  std::size_t i = 0;
  const auto end_part = [&](std::size_t begin) { parts.push_back(json.substr(begin, i - begin)); };
  while (i < json.size()) {
    const std::size_t begin = i;
    const char c = json[i++];
    if (c == '{' || c == '[') {
      open.push_back(begin);
    } else if ((c == '}' || c == ']') && !open.empty()) {
      end_part(open.back());
      open.pop_back();
    } else if (c == '"') {
      while (i < json.size() && json[i] != '"') i += json[i] == '\\' ? 2 : 1;
      ++i;
      end_part(begin);
    } else if (std::string_view(" \t\r\n,:").find(c) == std::string_view::npos) {
      i = std::min(json.find_first_of(" \t\r\n,:]}", i), json.size());
      end_part(begin);
    }
  }
  return parts;
}

}  // namespace zarrcore::fuzz
