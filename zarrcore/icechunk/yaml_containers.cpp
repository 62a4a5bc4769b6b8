#include "zarrcore/icechunk/yaml_containers.h"

#include <algorithm>
#include <cstddef>

namespace zarrcore::icechunk {
namespace {

constexpr std::string_view kSpace = " \t\r";

// `key: value` with its indentation.
struct YamlLine {
  std::size_t indentation = 0;
  std::string key;
  std::string value;
};

std::string_view trimmed(std::string_view text) {
  const auto start = text.find_first_not_of(kSpace);
  if (start == std::string_view::npos) return {};
  return text.substr(start, text.find_last_not_of(kSpace) - start + 1);
}

std::string unquoted(std::string_view text) {
  text = trimmed(text);
  const bool is_quoted = text.size() >= 2 && (text.front() == '\'' || text.front() == '"') &&
                         text.back() == text.front();
  return std::string(is_quoted ? text.substr(1, text.size() - 2) : text);
}

// Nullopt for lines without a member.
std::optional<YamlLine> parse_line(std::string_view line) {
  const std::size_t indentation = line.find_first_not_of(' ');
  const std::string_view content = trimmed(line);
  if (content.empty() || content.front() == '#') return std::nullopt;
  // The colon after the key is followed by a space or ends the line; one in quotation marks, or in
  // a URL, is neither.
  std::size_t colon = 0;
  const char quote = content.front();
  if (quote == '\'' || quote == '"') {
    colon = content.find(quote, 1);
    if (colon == std::string_view::npos) return std::nullopt;
  }
  while (true) {
    colon = content.find(':', colon);
    if (colon == std::string_view::npos) return std::nullopt;
    if (colon + 1 == content.size() || content[colon + 1] == ' ') break;
    ++colon;
  }
  return YamlLine{indentation, unquoted(content.substr(0, colon)),
                  unquoted(content.substr(colon + 1))};
}

}  // namespace

std::optional<std::string> find_yaml_container(std::string_view text, std::string_view name) {
  constexpr std::size_t kUnknown = std::string_view::npos;
  std::size_t section = kUnknown;    // indentation of virtual_chunk_containers
  std::size_t container = kUnknown;  // of each member of it
  std::size_t member = kUnknown;     // of the members of one container
  std::string own_name;
  std::string url;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const auto line = parse_line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line) continue;
    if (section == kUnknown) {
      if (line->key == "virtual_chunk_containers") section = line->indentation;
      continue;
    }
    if (line->indentation <= section) break;
    if (container == kUnknown) container = line->indentation;
    if (line->indentation <= container) {
      member = kUnknown;
      own_name = line->key;
      url.clear();
      continue;
    }
    if (member == kUnknown) member = line->indentation;
    if (line->indentation != member) continue;
    if (line->key == "name") own_name = line->value;
    if (line->key == "url_prefix") url = line->value;
    if (own_name == name && !url.empty()) return url;
  }
  return std::nullopt;
}

}  // namespace zarrcore::icechunk
