#include "zarrcore/base/json.h"

#include <algorithm>
#include <bit>
#include <clocale>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>

#include "zarrcore/base/error.h"
#include "zarrcore/base/json_scanner.h"
#include "zarrcore/base/text.h"

namespace zarrcore {
namespace {

struct BareWord {
  std::string_view text;
  double value;
};
constexpr BareWord kBareWords[] = {
    {"NaN", std::numeric_limits<double>::quiet_NaN()},
    {"Infinity", std::numeric_limits<double>::infinity()},
    {"-Infinity", -std::numeric_limits<double>::infinity()},
};

// Takes the digits at the start of `text` off it; returns whether there were any.
bool take_digits(std::string_view& text) {
  const std::size_t count = std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(count);
  return count != 0;
}

bool take_sign(std::string_view& text, std::string_view signs) {
  const bool has_sign = !text.empty() && signs.find(text[0]) != std::string_view::npos;
  if (has_sign) text.remove_prefix(1);
  return has_sign;
}

// A number with a fraction or an exponent, or an integer of more than 64 bits.
double parse_float(std::string_view word) {
  if (const auto number = parse_number<double>(word)) return *number;
  // Infinity, or too small to differ from zero: the digits before the exponent do not tell.
  std::string text(word);
  std::replace(text.begin(), text.end(), '.', *std::localeconv()->decimal_point);
  return std::strtod(text.c_str(), nullptr);
}

// The number that `word` spells as JSON demands; nullopt when it is none.
std::optional<Json> parse_json_number(std::string_view word) {
  std::string_view rest = word;
  const bool is_negative = take_sign(rest, "-");
  const bool has_leading_zero = rest.starts_with('0');
  const std::size_t size = rest.size();
  if (!take_digits(rest) || (has_leading_zero && size - rest.size() > 1)) return std::nullopt;
  const bool is_integer = rest.empty();
  if (take_sign(rest, ".") && !take_digits(rest)) return std::nullopt;
  if (take_sign(rest, "eE")) {
    take_sign(rest, "+-");
    if (!take_digits(rest)) return std::nullopt;
  }
  if (!rest.empty()) return std::nullopt;
  if (is_integer && is_negative) {
    if (const auto number = parse_number<std::int64_t>(word))
      return std::make_optional<Json>(*number);
  } else if (is_integer) {
    if (const auto number = parse_number<std::uint64_t>(word))
      return std::make_optional<Json>(*number);
  }
  return std::make_optional<Json>(parse_float(word));
}

// Whether an integer of 64 bits is written like this.
bool is_plain_integer(std::string_view word) {
  constexpr std::size_t kMaxDigits = 18;
  const std::size_t digits = word.size() - (word.starts_with('-') ? 1 : 0);
  return digits <= kMaxDigits && word != "-0" &&
         word.find_first_not_of("-0123456789") == std::string_view::npos;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : scanner_(text) {}

  Json document() {
    Json value = this->value(0);
    scanner_.skip_space();
    if (scanner_.peek() != '\0') scanner_.fail("the end of the document");
    return value;
  }

 private:
  Json value(int depth) {
    switch (scanner_.peek()) {
      case '{':
        return object(depth);
      case '[':
        return list(depth);
      case '"':
        return scanner_.read_string();
      default:
        return word();
    }
  }

  Json object(int depth) {
    if (depth == kMaxJsonDepth) refuse_json_depth();
    Json object = Json::object();
    auto& members = object.get_ref<Json::object_t&>();
    scanner_.accept('{');
    if (scanner_.accept('}')) return object;
    do {
      if (scanner_.peek() != '"') scanner_.fail("the name of a member");
      const auto member = members.emplace(scanner_.read_string(), nullptr).first;
      scanner_.skip_space();
      if (!scanner_.accept(':')) scanner_.fail("a colon");
      member->second = value(depth + 1);
      keep_number_text(members, static_cast<std::size_t>(member - members.begin()));
      scanner_.skip_space();
    } while (scanner_.accept(','));
    if (!scanner_.accept('}')) scanner_.fail("a comma or the end of the object");
    return object;
  }

  Json list(int depth) {
    if (depth == kMaxJsonDepth) refuse_json_depth();
    Json list = Json::array();
    auto& items = list.get_ref<Json::array_t&>();
    scanner_.accept('[');
    if (scanner_.accept(']')) return list;
    do {
      items.push_back(value(depth + 1));
      keep_number_text(items, items.size() - 1);
      scanner_.skip_space();
    } while (scanner_.accept(','));
    if (!scanner_.accept(']')) scanner_.fail("a comma or the end of the list");
    return list;
  }

  Json word() {
    const std::size_t start = scanner_.at();
    const std::string_view word = scanner_.read_word();
    if (word == "null") return nullptr;
    if (word == "true" || word == "false") return word == "true";
    for (const BareWord& bare : kBareWords) {
      if (word == bare.text) return bare.value;
    }
    if (auto number = parse_json_number(word)) {
      if (!is_plain_integer(word) && number->dump() != word) number_text_ = word;
      return std::move(*number);
    }
    scanner_.fail("a value", start);
  }

  // Keeps the text of the number that was read last, if it is not spelled as it would be written.
  template <typename Items>
  void keep_number_text(Items& items, std::size_t place) {
    if (number_text_.empty()) return;
    items.number_texts().add(place, number_text_);
    number_text_ = {};
  }

  JsonScanner scanner_;
  std::string_view number_text_;
};

std::string_view bare_word_of(double number) {
  return kBareWords[std::isnan(number) ? 0 : number > 0 ? 1 : 2].text;
}

bool is_same_number(const Json& a, const Json& b) {
  if (a.type() != b.type()) return false;
  if (!a.is_number_float()) return a == b;
  return std::bit_cast<std::uint64_t>(a.get<double>()) ==
         std::bit_cast<std::uint64_t>(b.get<double>());
}

const NumberTexts& number_texts_of(const Json& structured) {
  if (structured.is_object()) return structured.get_ref<const Json::object_t&>().number_texts();
  return structured.get_ref<const Json::array_t&>().number_texts();
}

// How `item` was spelled at `place`, unless it has become another number since; else empty.
std::string_view text_as_read(const NumberTexts& texts, std::size_t place, const Json& item) {
  const std::string_view text = texts.find(place);
  if (text.empty() || !item.is_number()) return {};
  const auto number = parse_json_number(text);
  return number && is_same_number(*number, item) ? text : std::string_view();
}

// Calls `visit` with each number that the library does not write as it shall be, and its text.
template <typename Value, typename Visit>
void visit_special_numbers(Value& value, const JsonStyle& style, const Visit& visit) {
  if (value.is_number_float()) {
    const double number = value.template get<double>();
    if (!std::isfinite(number)) visit(value, bare_word_of(number));
  }
  if (!value.is_structured()) return;
  const NumberTexts& texts = number_texts_of(value);
  std::size_t place = 0;
  for (auto& item : value) {
    const std::string_view text =
        style.as_read ? text_as_read(texts, place, item) : std::string_view();
    ++place;
    if (text.empty()) {
      visit_special_numbers(item, style, visit);
    } else {
      visit(item, text);
    }
  }
}

}  // namespace

Json parse_json(std::string_view text) {
  return Parser(text).document();
}

std::string dump_json(const Json& value, JsonStyle style) {
  const auto dump = [style](const Json& json) {
    return json.dump(style.indentation, ' ', style.is_ascii, Json::error_handler_t::replace);
  };
  std::string text = dump(value);  // with null where a number is not finite
  bool has_special_numbers = false;
  visit_special_numbers(value, style, [&](const Json& /*number*/, std::string_view /*text*/) {
    has_special_numbers = true;
  });
  if (!has_special_numbers) return text;
  // They are written as strings that begin with a mark, which are then freed from it.
  std::string mark = "number:";
  while (text.find(mark) != std::string::npos) mark += ':';
  Json copy = value;
  visit_special_numbers(copy, style, [&](Json& number, std::string_view spelled) {
    number = mark + std::string(spelled);
  });
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

bool is_same_text(const Json& a, const Json& b) {
  return dump_json(a, {.as_read = true}) == dump_json(b, {.as_read = true});
}

void copy_member(const Json& from, std::string_view key, Json& to, std::string_view to_key) {
  const auto& source = from.get_ref<const Json::object_t&>();
  const auto member = source.find(key);
  // Both objects may be the same, whose members move when one is added.
  Json value = member->second;
  const std::string text(
      source.number_texts().find(static_cast<std::size_t>(member - source.begin())));
  auto& target = to.get_ref<Json::object_t&>();
  const auto copy = target.emplace(to_key, nullptr).first;
  copy->second = std::move(value);
  if (!text.empty()) {
    target.number_texts().add(static_cast<std::size_t>(copy - target.begin()), text);
  }
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
      return "not a JSON value";
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
    // parse_json() makes only negative integers signed, but other code may make positive ones so.
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
