#include "zarrcore/base/json.h"

#include <cmath>
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

struct Prepared {
  std::string text;  // empty when the original can be parsed as it is
  bool has_bare_words = false;
};

// One pass over the text: bounds the nesting and puts strings in the place of bare words.
Prepared prepare(std::string_view text) {
  Prepared prepared;
  std::size_t copied = 0;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i) {
        if (text[i] == '\\') ++i;
      }
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxJsonDepth) {
        throw Error("JSON is nested deeper than " + std::to_string(kMaxJsonDepth) + " levels");
      }
    } else if (c == ']' || c == '}') {
      --depth;
    } else if (c == 'N' || c == 'I' || c == '-') {
      for (const BareWord& word : kBareWords) {
        if (text.substr(i, word.text.size()) != word.text) continue;
        prepared.text.append(text.substr(copied, i - copied));
        prepared.text.append("\"").append(kNotFinitePrefix).append(word.text).append("\"");
        prepared.has_bare_words = true;
        i += word.text.size() - 1;
        copied = i + 1;
        break;
      }
    }
  }
  if (prepared.has_bare_words) prepared.text.append(text.substr(copied));
  return prepared;
}

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

void hide_not_finite(Json& value) {
  if (value.is_number_float()) {
    const double number = value.get<double>();
    if (std::isfinite(number)) return;
    const BareWord& word = std::isnan(number) ? kBareWords[0] : kBareWords[number > 0 ? 1 : 2];
    value = std::string(kNotFinitePrefix).append(word.text);
  } else if (value.is_structured()) {
    for (Json& child : value) hide_not_finite(child);
  }
}

}  // namespace

Json parse_json(std::string_view text) {
  const Prepared prepared = prepare(text);
  const std::string_view input = prepared.has_bare_words ? prepared.text : text;
  try {
    Json value = Json::parse(input.begin(), input.end());
    if (prepared.has_bare_words) restore_bare_words(value);
    return value;
  } catch (const nlohmann::json::exception& exception) {
    // The library's text starts with its own exception number in brackets.
    std::string_view reason = exception.what();
    if (const auto end = reason.find("] "); end != std::string_view::npos) {
      reason.remove_prefix(end + 2);
    }
    throw Error("not valid JSON: " + std::string(reason));
  }
}

std::string dump_json(const Json& value) {
  constexpr auto kLenient = Json::error_handler_t::replace;
  if (!has_not_finite(value)) return value.dump(-1, ' ', false, kLenient);
  Json copy = value;
  hide_not_finite(copy);
  std::string text = copy.dump(-1, ' ', false, kLenient);
  const std::string opening = std::string("\"").append(kNotFinitePrefix);
  for (auto at = text.find(opening); at != std::string::npos; at = text.find(opening, at)) {
    text.erase(at, opening.size());
    text.erase(text.find('"', at), 1);
  }
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

std::uint64_t as_unsigned(const Json& value, std::string_view what) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  if (value.is_number_integer()) {
    // The parser makes negative integers signed; a program may make positive ones so.
    if (const auto number = value.get<std::int64_t>(); number >= 0) {
      return static_cast<std::uint64_t>(number);
    }
    throw Error(std::string(what) + " is " + dump_json(value) + ", which is negative");
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
