#include "zarrcore/base/json_members.h"

#include <algorithm>

#include "zarrcore/base/error.h"
#include "zarrcore/base/json.h"

namespace zarrcore {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::string_view kSpace = " \t\r\n";

// Where the value begins.
std::size_t find_start(std::string_view text) {
  const std::size_t start = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  return std::min(text.find_first_not_of(kSpace, start), text.size());
}

}  // namespace

bool JsonMembers::is_object(std::string_view text) {
  return text.substr(find_start(text)).starts_with('{');
}

JsonMembers::JsonMembers(std::string_view text, TrailingComma trailing_comma)
    : text_(text), trailing_comma_(trailing_comma), at_(find_start(text)) {
  if (peek() != '{') fail("an object");
  ++at_;
}

bool JsonMembers::next() {
  if (at_value_) skip_value();
  skip_space();
  if (peek() == '}') {
    ++at_;
    return false;
  }
  if (!is_first_) {
    if (peek() != ',') fail("a comma or the end of the object");
    ++at_;
    skip_space();
    if (trailing_comma_ == TrailingComma::accepted && peek() == '}') {
      ++at_;
      return false;
    }
  }
  is_first_ = false;
  if (peek() != '"') fail("the name of a member");
  key_ = read_string();
  skip_space();
  if (peek() != ':') fail("a colon");
  ++at_;
  skip_space();
  at_value_ = true;
  return true;
}

std::string_view JsonMembers::value() {
  const std::size_t start = at_;
  skip_value();
  return text_.substr(start, at_ - start);
}

void JsonMembers::skip_space() {
  at_ = std::min(text_.find_first_not_of(kSpace, at_), text_.size());
}

// The next character, or NUL, which begins nothing, at the end.
char JsonMembers::peek() const {
  return at_ < text_.size() ? text_[at_] : '\0';
}

void JsonMembers::fail(const char* expected) const {
  throw Error("not valid JSON: " + std::string(expected) + " is missing at byte " +
              std::to_string(at_));
}

std::string_view JsonMembers::read_string() {
  const std::size_t start = ++at_;
  while (true) {
    at_ = std::min(text_.find_first_of("\"\\", at_), text_.size());
    if (at_ == text_.size()) fail("the end of a string");
    if (text_[at_] == '"') return text_.substr(start, at_++ - start);
    at_ += 2;
  }
}

void JsonMembers::skip_value() {
  at_value_ = false;
  std::string open;  // the brackets that have to be closed
  do {
    at_ = open.empty() ? at_ : std::min(text_.find_first_of("\"[]{}", at_), text_.size());
    const char c = peek();
    if (c == '"') {
      read_string();
    } else if (c == '{' || c == '[') {
      if (open.size() == kMaxJsonDepth) fail("the end of an object nested too deeply");
      open += c == '{' ? '}' : ']';
      ++at_;
    } else if (!open.empty()) {
      if (c != open.back()) fail("a closing bracket");
      open.pop_back();
      ++at_;
    } else {
      const std::size_t start = at_;
      at_ = std::min(text_.find_first_of(",]} \t\r\n", at_), text_.size());
      if (at_ == start || at_ == text_.size()) fail("a value");
    }
  } while (!open.empty());
}

std::string unescape_json(std::string_view raw_key) {
  const bool is_plain = std::all_of(raw_key.begin(), raw_key.end(),
                                    [](char c) { return c >= ' ' && c < '\x7f' && c != '\\'; });
  if (is_plain) return std::string(raw_key);
  return parse_json('"' + std::string(raw_key) + '"').get<std::string>();
}

}  // namespace zarrcore
