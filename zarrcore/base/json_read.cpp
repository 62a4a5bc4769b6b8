// Reading JSON text.
#include <algorithm>
#include <cmath>
#include <exception>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "zarrcore/base/error.h"
#include "zarrcore/base/json.h"
#include "zarrcore/base/text.h"

namespace zarrcore {
namespace {

// The value of one of the bare words that Python writes.
std::optional<double> bare_word_value(std::string_view word) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (word == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (word == "Infinity") return kInfinity;
  if (word == "-Infinity") return -kInfinity;
  return std::nullopt;
}

bool is_bracket_or_quote(char c) {
  return c == '"' || c == '{' || c == '}' || c == '[' || c == ']';
}

bool is_of_number(char c) {
  return is_digit(c) || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E';
}

// Returns true for a word like a number that is too large for a float64. It may not be valid JSON.
bool is_too_large(std::string_view word) {
  constexpr std::size_t kMaxDigits = 308;  // without an exponent
  const bool may_be = word.size() > kMaxDigits || word.find_first_of("eE") < word.size();
  return may_be && std::ranges::all_of(word, is_of_number) && std::isinf(parse_float(word));
}

// Returns true if `c` ends a number or a word like "true".
bool ends_word(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ',' || c == ':' || c == '"' ||
         c == '[' || c == ']' || c == '{' || c == '}';
}

// The position of the first such character from `at` on; the size if there is none.
template <typename Test>
std::size_t find_from(std::string_view text, std::size_t at, const Test& test) {
  while (at < text.size() && !test(text[at])) ++at;
  return at;
}

// The words of a JSON text that stand for numbers, one after the other.
class NumberWords {
 public:
  explicit NumberWords(std::string_view text) : text_(text) {}

  // Empty at the end of the text.
  std::string_view next() {
    while (true) {
      const std::size_t start = find_from(text_, at_, may_begin);
      if (start >= text_.size()) return {};
      if (text_[start] != '"') {
        at_ = find_from(text_, start, ends_word);
        return text_.substr(start, at_ - start);
      }
      for (at_ = start + 1; at_ < text_.size() && text_[at_] != '"'; ++at_) {
        if (text_[at_] == '\\') ++at_;
      }
      ++at_;
    }
  }

 private:
  // Returns true if `c` can begin a number, a bare word (NaN, Infinity) or a string. No other word
  // contains such a character.
  static bool may_begin(char c) {
    return is_digit(c) || c == '-' || c == 'N' || c == 'I' || c == '"';
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// The UTF-16 unit of an escape "\u1234" at `at`.
std::optional<std::uint64_t> escaped_unit(std::string_view text, std::size_t at) {
  const std::string_view escape = text.substr(std::min(at, text.size()), 6);
  if (escape.size() != 6 || !escape.starts_with("\\u")) return std::nullopt;
  return parse_digits(escape.substr(2), 16);
}

bool is_surrogate(std::optional<std::uint64_t> unit, std::uint64_t first) {
  return unit && *unit >= first && *unit < first + 0x400;
}

// The text with something of the same length for all that the library refuses: lone surrogates,
// bare words, and numbers too large for a float64.
std::string plain_json(std::string_view text) {
  std::string plain(text);
  for (std::size_t at = text.find('\\'); at < text.size(); at = text.find('\\', at)) {
    const auto unit = escaped_unit(text, at);
    const bool is_high = is_surrogate(unit, 0xd800);
    if (is_high && is_surrogate(escaped_unit(text, at + 6), 0xdc00)) {
      at += 12;
      continue;
    }
    if (is_high || is_surrogate(unit, 0xdc00)) plain.replace(at, 6, "\\ufffd");
    at += 2;
  }
  NumberWords words(text);
  for (auto word = words.next(); !word.empty(); word = words.next()) {
    std::string replacement;
    if (bare_word_value(word)) {
      replacement = "0";
    } else if (is_too_large(word)) {
      // As valid as the number: with two digits at most where that has many.
      std::size_t digits = 0;
      for (const char c : word) {
        digits = is_digit(c) ? digits + 1 : 0;
        if (digits <= 2) replacement += c;
      }
    } else {
      continue;
    }
    replacement.resize(word.size(), ' ');
    plain.replace(static_cast<std::size_t>(word.data() - text.data()), word.size(), replacement);
  }
  return plain;
}

// Makes a Json from the events of the library's SAX reader, which calls these public functions.
class Builder {
 public:
  Builder() = default;
  // `text` is the original text; read() then gets its plain_json().
  explicit Builder(std::string_view text) : words_(text) {}

  // Returns false if `text` does not have the format.
  bool read(std::string_view text, Json::input_format_t format = Json::input_format_t::json) {
    return Json::sax_parse(text.data(), text.data() + text.size(), this, format);
  }
  Json value() { return std::move(value_); }
  // Why it does not, and at which byte.
  const std::string& problem() const { return problem_; }
  std::size_t problem_at() const { return problem_at_; }

  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool string(std::string& value) { return add(std::move(value)); }
  bool binary(Json::binary_t& value) { return add(std::move(value)); }
  // Only negative integers are signed.
  bool number_integer(std::int64_t number) { return add_number(number, number == 0 ? "-0" : ""); }
  bool number_unsigned(std::uint64_t number) { return add_number(number, {}); }
  bool number_float(double number, const std::string& text) {
    if (text.empty()) return add(number);  // in MessagePack
    // The library reads and writes the decimal point that the locale has.
    const auto is_point = [](char c) { return !is_of_number(c); };
    const auto point = std::ranges::find_if(text, is_point);
    if (point == text.end()) return add_float(text);
    std::string plain(text.begin(), point);
    plain += '.';
    std::remove_copy_if(point, text.end(), std::back_inserter(plain), is_point);
    return add_float(plain);
  }

  bool start_object(std::size_t /*size*/) { return open(Json::object()); }
  bool key(std::string& name) {
    auto& members = open_.back()->get_ref<Json::object_t&>();
    const auto member = members.emplace(std::move(name), nullptr).first;
    place_ = static_cast<std::size_t>(member - members.begin());
    return true;
  }
  bool end_object() { return close(); }
  bool start_array(std::size_t /*size*/) { return open(Json::array()); }
  bool end_array() { return close(); }

  bool parse_error(std::size_t bytes_read, const std::string& /*token*/,
                   const std::exception& error) {
    const std::string_view what = error.what();
    const auto start = std::min(what.find("syntax error"), what.size());
    problem_ = what.substr(start, what.find("; last read", start) - start);
    problem_at_ = bytes_read - 1;
    return false;
  }

 private:
  // Returns true, as the reader wants it.
  bool add(Json value) {
    if (open_.empty()) {
      value_ = std::move(value);
      last_ = &value_;
    } else if (open_.back()->is_array()) {
      auto& items = open_.back()->get_ref<Json::array_t&>();
      items.push_back(std::move(value));
      place_ = items.size() - 1;
      last_ = &items.back();
    } else {
      last_ = &open_.back()->get_ref<Json::object_t&>().data()[place_].second;
      *last_ = std::move(value);
    }
    return true;
  }

  bool add_float(std::string_view text) {
    Json number = parse_float(text);
    const bool is_spelled_so = number.dump() == text;
    return add_number(std::move(number), is_spelled_so ? std::string_view() : text);
  }

  // `text` is empty if the number is written as it was read.
  bool add_number(Json number, std::string_view text) {
    if (words_) {
      const std::string_view word = words_->next();
      if (const auto value = bare_word_value(word)) {
        number = *value;
        text = {};
      } else if (is_too_large(word)) {
        number = parse_float(word);
        text = word;
      }
    }
    add(std::move(number));
    if (open_.empty() || text.empty()) return true;
    if (open_.back()->is_array()) {
      open_.back()->get_ref<Json::array_t&>().number_texts().set(place_, text);
    } else {
      open_.back()->get_ref<Json::object_t&>().number_texts().set(place_, text);
    }
    return true;
  }

  bool open(Json empty) {
    if (open_.size() == kMaxJsonDepth) refuse_json_depth();
    add(std::move(empty));
    open_.push_back(last_);
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  std::optional<NumberWords> words_;
  Json value_;
  std::vector<Json*> open_;  // lists and objects that have not ended
  std::size_t place_ = 0;    // in the last of these
  Json* last_ = nullptr;     // the value that was added last
  std::string problem_;
  std::size_t problem_at_ = 0;
};

}  // namespace

Json parse_json(std::string_view text) {
  const bool may_have_words =
      text.find("NaN") != std::string_view::npos || text.find("Infinity") != std::string_view::npos;
  if (text.empty()) refuse_json(text, 0, "the text is empty");
  if (!may_have_words) {
    Builder builder;
    if (builder.read(text)) return builder.value();
  }
  Builder builder(text);
  if (!builder.read(plain_json(text))) refuse_json(text, builder.problem_at(), builder.problem());
  return builder.value();
}

Json parse_msgpack(std::string_view bytes) {
  Builder builder;
  if (builder.read(bytes, Json::input_format_t::msgpack)) return builder.value();
  throw Error("not valid MessagePack: " + builder.problem() + " at byte " +
              std::to_string(builder.problem_at()));
}

JsonMembers::JsonMembers(std::string_view text, TrailingComma trailing_comma)
    : text_(text), trailing_comma_(trailing_comma) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
  skip_space();
  if (!accept('{')) fail("an object");
}

bool JsonMembers::is_object(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(" \t\r\n\xef\xbb\xbf"), text.size()))
      .starts_with('{');
}

bool JsonMembers::next() {
  if (is_at_value_) value();
  skip_space();
  if (accept('}')) return false;
  if (!is_first_) {
    if (!accept(',')) fail("a comma or the end of the object");
    if (trailing_comma_ == TrailingComma::accepted && accept('}')) return false;
  }
  is_first_ = false;
  if (peek() != '"') fail("the name of a member");
  key_ = read_raw_string();
  skip_space();
  if (!accept(':')) fail("a colon");
  is_at_value_ = true;
  return true;
}

std::string_view JsonMembers::value() {
  is_at_value_ = false;
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
      // A number or a word. At the end of the text it may have been cut off.
      at_ = find_from(text_, start, ends_word);
      if (at_ == start || at_ == text_.size()) {
        at_ = start;
        fail("a value");
      }
    } else if (c == '}' || c == ']') {
      if (c != open.back()) fail(std::string("'") + open.back() + '\'');
      open.pop_back();
      ++at_;
    } else if (at_ == text_.size()) {
      fail("a closing bracket");
    } else {
      at_ = find_from(text_, at_, is_bracket_or_quote);
    }
  } while (!open.empty());
  return text_.substr(start, at_ - start);
}

void JsonMembers::skip_space() {
  at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
}

bool JsonMembers::accept(char c) {
  if (peek() != c) return false;
  ++at_;
  skip_space();
  return true;
}

std::string_view JsonMembers::read_raw_string() {
  const std::size_t start = ++at_;
  for (; at_ < text_.size(); ++at_) {
    if (text_[at_] == '"') return text_.substr(start, at_++ - start);
    if (text_[at_] == '\\') ++at_;
  }
  at_ = text_.size();
  fail("the end of a string");
}

void JsonMembers::fail(std::string_view expected) const {
  refuse_json(text_, at_, "expected " + std::string(expected));
}

}  // namespace zarrcore
