#include "zarrcore/base/json_scanner.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "zarrcore/base/error.h"
#include "zarrcore/base/text.h"
#include "zarrcore/base/utf8.h"

namespace zarrcore {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20;
}

// The UTF-16 unit of an escape "\u1234" at `at`.
std::optional<std::uint32_t> escaped_unit(std::string_view text, std::size_t at) {
  const std::string_view escape = text.substr(std::min(at, text.size()), 6);
  if (escape.size() != 6 || !escape.starts_with("\\u")) return std::nullopt;
  const auto unit = parse_digits(escape.substr(2), 16);
  return unit ? std::optional(static_cast<std::uint32_t>(*unit)) : std::nullopt;
}

}  // namespace

JsonScanner::JsonScanner(std::string_view text) : text_(text) {
  if (text.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
  skip_space();
}

void JsonScanner::skip_space() {
  while (at_ < text_.size() && is_space(text_[at_])) ++at_;
}

bool JsonScanner::accept(char c) {
  if (peek() != c) return false;
  ++at_;
  skip_space();
  return true;
}

std::string_view JsonScanner::read_raw_string() {
  if (peek() != '"') fail("a string");
  const std::size_t start = ++at_;
  for (; at_ < text_.size(); ++at_) {
    if (text_[at_] == '"') return text_.substr(start, at_++ - start);
    if (text_[at_] == '\\') ++at_;
  }
  at_ = text_.size();
  fail("the end of a string");
}

std::string JsonScanner::read_string() {
  const std::string_view raw = read_raw_string();
  const std::size_t start = at_ - 1 - raw.size();
  const auto* control = std::find_if(raw.begin(), raw.end(), is_control);
  if (control != raw.end()) {
    fail("no control character", start + static_cast<std::size_t>(control - raw.begin()));
  }
  if (!is_utf8(raw)) fail("a string of UTF-8", start);
  std::string result;
  result.reserve(raw.size());
  const std::size_t end = at_ - 1;
  for (std::size_t at = start; at < end;) {
    const std::size_t escape = std::min(text_.substr(0, end).find('\\', at), end);
    result += text_.substr(at, escape - at);
    at = escape;
    if (at < end) append_escape(result, at);
  }
  return result;
}

// Appends what the escape at `at` stands for, and moves `at` past it.
void JsonScanner::append_escape(std::string& result, std::size_t& at) const {
  constexpr std::string_view kLetters = "\"\\/bfnrt";
  constexpr std::string_view kCharacters = "\"\\/\b\f\n\r\t";
  const std::size_t letter = kLetters.find(text_[at + 1]);
  if (letter != std::string_view::npos) {
    result += kCharacters[letter];
    at += 2;
    return;
  }
  constexpr std::size_t kLength = 6;
  const auto unit = escaped_unit(text_, at);
  if (!unit) fail("an escape sequence of JSON", at);
  at += kLength;
  if (*unit < 0xd800 || *unit >= 0xe000) return append_utf8(result, *unit);
  const auto low = escaped_unit(text_, at);
  const bool is_pair = *unit < 0xdc00 && low && *low >= 0xdc00 && *low < 0xe000;
  if (!is_pair) return append_utf8(result, 0xfffd);
  at += kLength;
  append_utf8(result, 0x10000 + ((*unit - 0xd800) << 10) + (*low - 0xdc00));
}

std::string_view JsonScanner::read_word() {
  const std::size_t start = at_;
  const auto is_end = [](char c) {
    return is_space(c) || std::string_view(",:[]{}\"").find(c) != std::string_view::npos;
  };
  while (at_ < text_.size() && !is_end(text_[at_])) ++at_;
  return text_.substr(start, at_ - start);
}

std::string_view JsonScanner::skip_value() {
  const std::size_t start = at_;
  std::string open;  // the brackets that have to be closed
  do {
    const char c = peek();
    if (c == '"') {
      read_raw_string();
    } else if (c == '{' || c == '[') {
      if (open.size() == kMaxJsonDepth) refuse_json_depth();
      open += c == '{' ? '}' : ']';
      ++at_;
    } else if (open.empty()) {
      // A word at the end of the text may have been cut off.
      if (read_word().empty() || at_ == text_.size()) fail("a value", start);
    } else if (c == '}' || c == ']') {
      if (c != open.back()) fail(std::string("'") + open.back() + '\'');
      open.pop_back();
      ++at_;
    } else if (at_ == text_.size()) {
      fail("a closing bracket");
    } else {
      ++at_;
    }
  } while (!open.empty());
  return text_.substr(start, at_ - start);
}

void JsonScanner::fail(std::string_view expected, std::size_t at) const {
  const std::string_view before = text_.substr(0, at);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t column = at - (before.rfind('\n') + 1);
  throw Error("not valid JSON: expected " + std::string(expected) + " at byte " +
              std::to_string(at) + " (line " + std::to_string(line) + ", column " +
              std::to_string(column + 1) + ")");
}

std::string unescape_json(std::string_view raw) {
  const bool is_plain = std::all_of(raw.begin(), raw.end(),
                                    [](char c) { return c >= ' ' && c < '\x7f' && c != '\\'; });
  if (is_plain) return std::string(raw);
  return JsonScanner('"' + std::string(raw) + '"').read_string();
}

void refuse_json_depth() {
  throw Error("JSON is nested deeper than " + std::to_string(kMaxJsonDepth) + " levels");
}

}  // namespace zarrcore
