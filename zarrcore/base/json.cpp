#include "zarrcore/base/json.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "zarrcore/base/error.h"
#include "zarrcore/base/text.h"

namespace zarrcore {
namespace {

std::string_view bare_word_of(double number) {
  return std::isnan(number) ? "NaN" : number > 0 ? "Infinity" : "-Infinity";
}

const json::NumberTexts& number_texts_of(const Json& structured) {
  if (structured.is_object()) return structured.get_ref<const Json::object_t&>().number_texts();
  return structured.get_ref<const Json::array_t&>().number_texts();
}

// Returns how `item` was spelled at `place`, unless it has become another number since; then empty.
std::string_view text_as_read(const json::NumberTexts& texts, std::size_t place, const Json& item) {
  const std::string_view text = texts.find(place);
  if (text.empty() || !item.is_number()) return {};
  const bool is_same = item.is_number_float() ? std::bit_cast<std::uint64_t>(item.get<double>()) ==
                                                    std::bit_cast<std::uint64_t>(parse_float(text))
                                              : text == "-0" && item == 0;
  return is_same ? text : std::string_view();
}

// Calls `visit` with each number that the library does not write as it shall be, and its text.
template <typename Value, typename Visit>
void visit_special_numbers(Value& value, const JsonStyle& style, const Visit& visit) {
  if (value.is_number_float()) {
    const double number = value.template get<double>();
    if (!std::isfinite(number)) visit(value, bare_word_of(number));
  }
  if (!value.is_structured()) return;
  const json::NumberTexts& texts = number_texts_of(value);
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

namespace json {

void NumberTexts::set(std::size_t place, std::string_view text) {
  const auto it = std::ranges::lower_bound(entries_, place, {}, &Entry::place);
  if (it != entries_.end() && it->place == place) {
    it->text = text;
  } else {
    entries_.insert(it, {place, std::string(text)});
  }
}

std::string_view NumberTexts::find(std::size_t place) const {
  const auto it = std::ranges::lower_bound(entries_, place, {}, &Entry::place);
  return it == entries_.end() || it->place != place ? std::string_view() : it->text;
}

}  // namespace json

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
  // Copied because both objects may be the same, and members move when one is added.
  Json value = member->second;
  const std::string text(
      source.number_texts().find(static_cast<std::size_t>(member - source.begin())));
  auto& target = to.get_ref<Json::object_t&>();
  const auto copy = target.emplace(to_key, nullptr).first;
  copy->second = std::move(value);
  if (!text.empty()) {
    target.number_texts().set(static_cast<std::size_t>(copy - target.begin()), text);
  }
}

std::string excerpt(const Json& value) {
  constexpr std::size_t kMaxLength = 80;
  std::string text = dump_json(value);
  if (text.size() <= kMaxLength) return text;
  std::size_t end = kMaxLength - 3;
  while ((text[end] & 0xc0) == 0x80) --end;  // not inside of a character
  return text.substr(0, end) + "...";
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

const Json* find_value(const Json& value, std::string_view key) {
  const Json* member = find_member(value, key);
  return member == nullptr || member->is_null() ? nullptr : member;
}

const Json& required_member(const Json& document, std::string_view key) {
  if (!document.is_object()) {
    throw Error("the document is " + std::string(describe_kind(document)) +
                " where an object is expected");
  }
  if (const Json* member = find_member(document, key)) return *member;
  throw Error("the member \"" + std::string(key) + "\" is missing");
}

Json object_member(const Json& document, std::string_view key) {
  const Json* member = find_value(document, key);
  if (member == nullptr) return Json::object();
  if (member->is_object()) return *member;
  throw Error("\"" + std::string(key) + "\" is " + std::string(describe_kind(*member)) +
              " where an object is expected");
}

Json other_members(const Json& document, std::span<const std::string_view> known) {
  Json others = Json::object();
  for (const auto& [key, value] : document.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      copy_member(document, key, others, key);
    }
  }
  return others;
}

void add_members(Json& document, const Json& others) {
  for (const auto& [key, value] : others.items()) {
    if (!document.contains(key)) copy_member(others, key, document, key);
  }
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

void refuse_json(std::string_view text, std::size_t at, std::string_view problem) {
  const std::string_view before = text.substr(0, at);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t column = before.size() - (before.rfind('\n') + 1);
  throw Error("not valid JSON: " + std::string(problem) + " at byte " + std::to_string(at) +
              " (line " + std::to_string(line) + ", column " + std::to_string(column + 1) + ")");
}

void refuse_json_depth() {
  throw Error("JSON is nested deeper than " + std::to_string(kMaxJsonDepth) + " levels");
}

std::string unescape_json(std::string_view raw) {
  const bool is_plain = std::all_of(raw.begin(), raw.end(),
                                    [](char c) { return c >= ' ' && c < '\x7f' && c != '\\'; });
  if (is_plain) return std::string(raw);
  return parse_json('"' + std::string(raw) + '"').get<std::string>();
}

}  // namespace zarrcore
