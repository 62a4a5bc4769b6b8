#include "zarrcore/base/json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "zarrcore/base/error.h"

namespace zarrcore {
namespace {

// Stands for a bare word while the text is in the hands of a parser that does not know it. A
// document that holds it as a string gets a number there, which harms nobody.
constexpr std::string_view kNotFinitePrefix = "\x7fzarrcore:";

struct BareWord {
  std::string_view text;
  double value;
};
constexpr BareWord kBareWords[] = {
    {"NaN", std::numeric_limits<double>::quiet_NaN()},
    {"Infinity", std::numeric_limits<double>::infinity()},
    {"-Infinity", -std::numeric_limits<double>::infinity()},
};

// Makes text that the JSON library takes, in one pass: bounds the nesting and replaces what it does
// not know.
class Preparer {
 public:
  explicit Preparer(std::string_view text) : text_(text) {}

  void run() {
    int depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        pass_string();
        continue;
      }
      if (c == '[' || c == '{') {
        if (++depth > kMaxJsonDepth) {
          throw Error("JSON is nested deeper than " + std::to_string(kMaxJsonDepth) + " levels");
        }
      } else if (c == ']' || c == '}') {
        --depth;
      } else if (c == 'N' || c == 'I' || c == '-' || (c >= '0' && c <= '9')) {
        if (pass_number()) continue;
      }
      ++at_;
    }
  }

  bool has_bare_words() const { return has_bare_words_; }
  // The prepared text, which lives as long as this object and the original.
  std::string_view text() {
    if (copied_ == 0) return text_;
    changed_.append(text_.substr(copied_));
    return changed_;
  }

 private:
  void replace(std::size_t start, std::size_t end, std::string_view replacement) {
    changed_.append(text_.substr(copied_, start - copied_)).append(replacement);
    copied_ = end;
  }

  // A bare word, or a number past the range of a float64.
  bool pass_number() {
    for (const BareWord& word : kBareWords) {
      if (text_.substr(at_, word.text.size()) == word.text) {
        replace_by_word(at_ + word.text.size(), word);
        return true;
      }
    }
    const std::size_t end = std::min(text_.find_first_not_of("+-.0123456789eE", at_), text_.size());
    if (end == at_) return false;
    double value = 0;
    const auto [stop, error] = std::from_chars(text_.data() + at_, text_.data() + end, value);
    if (error == std::errc::result_out_of_range && stop == text_.data() + end) {
      // Too large, or too small to be told from zero: the digits before the exponent do not say.
      const std::string number(text_.substr(at_, end - at_));
      value = std::strtod(number.c_str(), nullptr);
      if (std::isinf(value)) {
        replace_by_word(end, kBareWords[value > 0 ? 1 : 2]);
        return true;
      }
    }
    at_ = end;
    return true;
  }

  void replace_by_word(std::size_t end, const BareWord& word) {
    replace(at_, end, std::string("\"").append(kNotFinitePrefix).append(word.text).append("\""));
    has_bare_words_ = true;
    at_ = end;
  }

  void pass_string() {
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] != '\\') continue;
      const std::uint32_t unit = escaped_unit(at_);
      if (unit >= 0xd800 && unit < 0xdc00) {
        const std::uint32_t next = escaped_unit(at_ + 6);
        if (next >= 0xdc00 && next < 0xe000) {
          at_ += 11;
          continue;
        }
      }
      if (unit >= 0xd800 && unit < 0xe000) replace(at_, at_ + 6, "\\ufffd");
      at_ += unit == kNoUnit ? 1 : 5;
    }
    ++at_;
  }

  static constexpr std::uint32_t kNoUnit = UINT32_MAX;
  // The UTF-16 unit of an escape "\u1234" at `at`.
  std::uint32_t escaped_unit(std::size_t at) const {
    const std::string_view escape = text_.substr(std::min(at, text_.size()), 6);
    if (escape.size() != 6 || !escape.starts_with("\\u")) return kNoUnit;
    std::uint32_t unit = 0;
    const char* end = escape.data() + escape.size();
    const auto [stop, error] = std::from_chars(escape.data() + 2, end, unit, 16);
    return error == std::errc() && stop == end ? unit : kNoUnit;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string changed_;  // what replaces the original up to copied_
  std::size_t copied_ = 0;
  bool has_bare_words_ = false;
};

void restore_bare_words(Json& value) {
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    if (!text.starts_with(kNotFinitePrefix)) return;
    const std::string_view rest = std::string_view(text).substr(kNotFinitePrefix.size());
    for (const BareWord& word : kBareWords) {
      if (rest == word.text) {
        value = word.value;
        return;
      }
    }
  } else if (value.is_structured()) {
    for (Json& child : value) restore_bare_words(child);
  }
}

bool has_not_finite(const Json& value) {
  if (value.is_number_float()) return !std::isfinite(value.get<double>());
  if (!value.is_structured()) return false;
  for (const Json& child : value) {
    if (has_not_finite(child)) return true;
  }
  return false;
}

std::string_view bare_word_of(double number) {
  return kBareWords[std::isnan(number) ? 0 : number > 0 ? 1 : 2].text;
}

// Puts strings of `mark` and a bare word in the place of numbers that are not finite.
void mark_not_finite(Json& value, const std::string& mark) {
  if (value.is_number_float()) {
    const double number = value.get<double>();
    if (!std::isfinite(number)) value = mark + std::string(bare_word_of(number));
  } else if (value.is_structured()) {
    for (Json& child : value) mark_not_finite(child, mark);
  }
}

}  // namespace

Json parse_json(std::string_view text) {
  Preparer preparer(text);
  preparer.run();
  const std::string_view input = preparer.text();
  try {
    Json value = Json::parse(input.begin(), input.end());
    if (preparer.has_bare_words()) restore_bare_words(value);
    return value;
  } catch (const Json::exception& exception) {
    // The library's text starts with its own exception number in brackets, and quotes what it read,
    // which may be no UTF-8.
    std::string reason = exception.what();
    if (const auto end = reason.find("] "); end != std::string::npos) reason.erase(0, end + 2);
    std::replace_if(
        reason.begin(), reason.end(), [](char c) { return static_cast<signed char>(c) < 0; }, '?');
    throw Error("not valid JSON: " + reason);
  }
}

std::string dump_json(const Json& value, JsonStyle style) {
  const auto dump = [style](const Json& json) {
    return json.dump(style.indentation, ' ', style.is_ascii, Json::error_handler_t::replace);
  };
  std::string text = dump(value);  // with null where a number is not finite
  if (!has_not_finite(value)) return text;
  std::string mark = "not finite:";
  while (text.find(mark) != std::string::npos) mark += ':';
  Json copy = value;
  mark_not_finite(copy, mark);
  const std::string marked = dump(copy);
  const std::string opening = '"' + mark;
  text.clear();
  std::size_t copied = 0;
  for (auto at = marked.find(opening); at != std::string::npos; at = marked.find(opening, copied)) {
    text.append(marked, copied, at - copied);
    const std::size_t word = at + opening.size();
    const std::size_t end = marked.find('"', word);
    text.append(marked, word, end - word);
    copied = end + 1;
  }
  return text.append(marked, copied);
}

std::string excerpt(const Json& value) {
  constexpr std::size_t kMaxLength = 80;
  std::string text = dump_json(value);
  if (text.size() > kMaxLength) text = text.substr(0, kMaxLength - 3) + "...";
  return text;
}

std::string_view describe_kind(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      return "null";
    case Json::value_t::object:
      return "an object";
    case Json::value_t::array:
      return "a list";
    case Json::value_t::string:
      return "a string";
    case Json::value_t::boolean:
      return "a boolean";
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
      return "an integer";
    case Json::value_t::number_float:
      return "a number";
    default:
      return "no JSON value";
  }
}

const Json* find_member(const Json& value, std::string_view key) {
  if (!value.is_object()) return nullptr;
  const auto it = value.find(key);
  return it == value.end() ? nullptr : &*it;
}

const std::string* as_string(const Json& value) {
  return value.get_ptr<const std::string*>();
}

const std::string* find_string(const Json& value, std::string_view key) {
  const Json* member = find_member(value, key);
  return member == nullptr ? nullptr : as_string(*member);
}

std::uint64_t as_unsigned(const Json& value, std::string_view what) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  if (value.is_number_integer()) {
    // The parser makes negative integers signed; a program may make positive ones so.
    if (const auto number = value.get<std::int64_t>(); number >= 0) {
      return static_cast<std::uint64_t>(number);
    }
    throw Error(std::string(what) + " is " + excerpt(value) + ", which is negative");
  }
  throw Error(std::string(what) + " is " + std::string(describe_kind(value)) +
              " where a non-negative integer is expected");
}

std::vector<std::uint64_t> as_unsigned_list(const Json& value, std::string_view what) {
  if (!value.is_array()) {
    throw Error(std::string(what) + " is " + std::string(describe_kind(value)) +
                " where a list of integers is expected");
  }
  std::vector<std::uint64_t> list;
  list.reserve(value.size());
  for (const Json& item : value) list.push_back(as_unsigned(item, what));
  return list;
}

}  // namespace zarrcore
