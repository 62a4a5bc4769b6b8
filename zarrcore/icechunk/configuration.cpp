#include "zarrcore/icechunk/configuration.h"

// For GCC's library: how large an expression may become when its repetitions are written out.
// NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
#define _GLIBCXX_REGEX_STATE_LIMIT 10000

#include <algorithm>
#include <regex>

#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/base/text.h"

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

// The only member of an object, or a text as one without a value: how enumerations are stored.
std::pair<std::string, Json> variant_of(const Json& value) {
  if (const std::string* name = as_string(value)) return {lower_case(*name), nullptr};
  if (!value.is_object() || value.size() != 1) {
    throw Error("manifest.splitting has the condition " + excerpt(value));
  }
  return {lower_case(value.begin().key()), value.begin().value()};
}

// Returns true if an expression is found in a text. All places of the text are looked at together,
// in a time that is bounded by the product of the expression's states and the text's size, which
// are bounded as well: lookahead and back-references, which would take longer, are not in the
// reference's expressions either. Other C++ libraries than GCC's give up by themselves.
bool is_found(const std::string& expression, std::string_view text) {
  using namespace std::regex_constants;
  constexpr std::size_t kMaxSize = 1000;
  constexpr std::size_t kMaxDigits = 9;
  if (expression.size() > kMaxSize) throw std::regex_error(error_complexity);
  if (expression.find("(?=") != std::string::npos || expression.find("(?!") != std::string::npos) {
    throw std::regex_error(error_paren);
  }
  // GCC's library adds up the digits of counts and back-references without a look at overflows.
  std::size_t digits = 0;
  for (const char c : expression) {
    digits = is_digit(c) ? digits + 1 : 0;
    if (digits > kMaxDigits) throw std::regex_error(error_badbrace);
  }
  if (text.size() > kMaxSize) return false;
  auto syntax = ECMAScript | nosubs;
#ifdef __GLIBCXX__
  syntax |= __polynomial;
#endif
  const std::regex anywhere(R"([\s\S]*(?:)" + expression + R"()[\s\S]*)", syntax);
  return std::regex_match(text.begin(), text.end(), anywhere);
}

bool matches(const Json& expression, std::string_view text) {
  const std::string* own = as_string(expression);
  if (own == nullptr) own = find_string(expression, "regex");
  if (own == nullptr) throw Error("manifest.splitting has a condition without a regex");
  try {
    return is_found(*own, text);
  } catch (const std::regex_error&) {
    throw Error("manifest.splitting has the regex " + excerpt(expression) +
                ", which is not supported");
  }
}

bool is_for_array(const Json& condition, std::string_view path, std::size_t depth = 0) {
  if (depth > kMaxJsonDepth) refuse_json_depth();
  const auto [name, value] = variant_of(condition);
  const auto test = [&](const Json& each) { return is_for_array(each, path, depth + 1); };
  if (name == "any_array") return true;
  if (name == "and") return std::all_of(value.begin(), value.end(), test);
  if (name == "or") return std::any_of(value.begin(), value.end(), test);
  if (name == "path_matches") return matches(value, '/' + std::string(path));
  if (name == "name_matches") return matches(value, last_segment(path));
  throw Error("manifest.splitting has the unknown condition " + name);
}

bool is_for_dimension(const Json& condition, std::size_t axis,
                      const std::optional<std::string>& dimension) {
  const auto [name, value] = variant_of(condition);
  if (name == "any") return true;
  if (name == "axis") return as_unsigned(value, "an axis of manifest.splitting") == axis;
  if (name == "dimensionname") return dimension && matches(value, *dimension);
  throw Error("manifest.splitting has the unknown condition " + name);
}

}  // namespace

Json parse_yaml(std::string_view text) {
  return YamlReader(text).read();
}

Configuration::Configuration(const Json& document) {
  if (const Json* threshold = find_value(document, "inline_chunk_threshold_bytes")) {
    inline_threshold_ = as_unsigned(*threshold, "inline_chunk_threshold_bytes");
  }
  const Json splitting = object_member(object_member(document, "manifest"), "splitting");
  const Json* sizes = find_member(splitting, "split_sizes");
  if (sizes == nullptr || !sizes->is_array()) return;
  for (const Json& split : *sizes) {
    if (!split.is_array() || split.size() != 2) {
      throw Error("manifest.splitting has the item " + excerpt(split));
    }
    splits_.push_back({split[0], split[1]});
  }
}

std::vector<std::uint64_t> Configuration::split_sizes(
    std::string_view path, const std::vector<std::optional<std::string>>& dimension_names,
    std::size_t rank) const {
  std::vector<std::uint64_t> sizes(rank, UINT64_MAX);
  const auto split = std::ranges::find_if(
      splits_, [&](const Split& each) { return is_for_array(each.condition, path); });
  if (split == splits_.end()) return sizes;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const auto name = axis < dimension_names.size() ? dimension_names[axis] : std::nullopt;
    for (const Json& size : split->sizes) {
      if (!is_for_dimension(required_member(size, "condition"), axis, name)) continue;
      sizes[axis] = as_unsigned(required_member(size, "num_chunks"), "num_chunks");
      if (sizes[axis] == 0) throw Error("manifest.splitting has manifests of 0 chunks");
      break;
    }
  }
  return sizes;
}

std::optional<std::string> container_url(const Json& configuration, std::string_view name) {
  const Json containers = object_member(configuration, "virtual_chunk_containers");
  for (const auto& [key, container] : containers.items()) {
    const std::string* own_name = find_string(container, "name");
    if ((own_name != nullptr ? *own_name : key) != name) continue;
    return url_prefix(key, container);
  }
  return std::nullopt;
}

std::string url_prefix(const std::string& key, const Json& container) {
  const std::string* url = find_string(container, "url_prefix");
  return url != nullptr ? *url : key;
}

}  // namespace zarrcore::icechunk
