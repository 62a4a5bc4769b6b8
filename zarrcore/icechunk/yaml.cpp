#include <algorithm>

#include "zarrcore/base/error.h"
#include "zarrcore/base/text.h"
#include "zarrcore/icechunk/configuration.h"

namespace zarrcore::icechunk {
namespace {

constexpr std::string_view kSpace = " \t\r";

std::string_view trimmed(std::string_view text) {
  const auto start = text.find_first_not_of(kSpace);
  if (start == std::string_view::npos) return {};
  return text.substr(start, text.find_last_not_of(kSpace) - start + 1);
}

bool is_quoted(std::string_view text) {
  return text.size() >= 2 && (text.front() == '\'' || text.front() == '"') &&
         text.back() == text.front();
}

Json scalar(std::string_view text) {
  if (is_quoted(text)) return std::string(text.substr(1, text.size() - 2));
  if (text == "null" || text == "~") return nullptr;
  if (text == "true" || text == "false") return text == "true";
  if (text == "{}") return Json::object();
  if (text == "[]") return Json::array();
  if (const auto number = parse_number<std::uint64_t>(text)) return *number;
  return std::string(text);
}

// The colon after a key, which a space or the end of the line follows: one in quotation marks, or
// in a URL, is another. npos if there is none.
std::size_t key_end(std::string_view line) {
  std::size_t colon = 0;
  if (!line.empty() && (line.front() == '\'' || line.front() == '"')) {
    colon = line.find(line.front(), 1);
    if (colon == std::string_view::npos) return colon;
  }
  while (true) {
    colon = line.find(':', colon);
    if (colon == std::string_view::npos || colon + 1 == line.size() || line[colon + 1] == ' ') {
      return colon;
    }
    ++colon;
  }
}

class YamlReader {
 public:
  explicit YamlReader(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      const std::string_view line = text.substr(0, end);
      const std::string_view content = trimmed(line);
      if (!content.empty() && content.front() != '#' && content != "---") {
        lines_.push_back({line.find_first_not_of(' '), content});
      }
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  Json read() {
    if (lines_.empty()) return Json::object();
    Json value = block(lines_.front().indentation, 0);
    if (at_ != lines_.size()) fail();
    return value;
  }

 private:
  struct Line {
    std::size_t indentation;
    std::string_view content;
  };

  [[noreturn]] void fail() const {
    throw Error("YAML that Icechunk does not write: " +
                std::string(at_ < lines_.size() ? lines_[at_].content : "the end"));
  }

  bool is_at(std::size_t indentation) const {
    return at_ < lines_.size() && lines_[at_].indentation == indentation;
  }
  bool is_item() const {
    const std::string_view content = lines_[at_].content;
    return content == "-" || content.starts_with("- ");
  }

  Json block(std::size_t indentation, std::size_t depth) {
    if (depth > kMaxJsonDepth) refuse_json_depth();
    return is_item() ? list(indentation, depth) : map(indentation, depth);
  }

  // An item is what a line with its own indentation would be.
  Json list(std::size_t indentation, std::size_t depth) {
    Json items = Json::array();
    while (is_at(indentation) && is_item()) {
      Line& line = lines_[at_];
      const std::string_view rest = trimmed(line.content.substr(1));
      if (rest.empty()) {
        ++at_;
        items.push_back(value({}, indentation + 1, depth));
        continue;
      }
      line.indentation += line.content.size() - rest.size();
      line.content = rest;
      const bool is_block =
          is_item() || (rest.front() != '!' && key_end(rest) != std::string_view::npos);
      if (is_block) {
        items.push_back(block(line.indentation, depth + 1));
      } else {
        const std::size_t own = line.indentation;
        ++at_;
        items.push_back(value(rest, own, depth));
      }
    }
    return items;
  }

  Json map(std::size_t indentation, std::size_t depth) {
    Json members = Json::object();
    while (is_at(indentation) && !is_item()) {
      const std::string_view line = lines_[at_].content;
      const std::size_t end = key_end(line);
      if (end == std::string_view::npos) fail();
      const std::string_view key = trimmed(line.substr(0, end));
      ++at_;
      // Lists may begin below their key.
      const bool is_list = is_at(indentation) && is_item();
      members[std::string(is_quoted(key) ? key.substr(1, key.size() - 2) : key)] =
          value(trimmed(line.substr(end + 1)), indentation + (is_list ? 0 : 1), depth);
    }
    return members;
  }

  // `text` is what the line says of the value; otherwise it is the block that follows with
  // `indentation` or more.
  Json value(std::string_view text, std::size_t indentation, std::size_t depth) {
    if (text.empty()) {
      const bool has_block = at_ < lines_.size() && lines_[at_].indentation >= indentation;
      return has_block ? block(lines_[at_].indentation, depth + 1) : Json();
    }
    if (text.front() != '!') return scalar(text);
    const std::size_t end = std::min(text.find(' '), text.size());
    Json tagged = Json::object();
    tagged[std::string(text.substr(1, end - 1))] =
        value(trimmed(text.substr(end)), indentation, depth + 1);
    return tagged;
  }

  std::vector<Line> lines_;
  std::size_t at_ = 0;
};

}  // namespace

Json parse_yaml(std::string_view text) {
  return YamlReader(text).read();
}

}  // namespace zarrcore::icechunk
