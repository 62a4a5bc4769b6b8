#include "driver/conventions/cf/attributes.h"

#include <cpl_conv.h>
#include <cpl_string.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <numbers>
#include <span>

#include "zarrcore/base/error.h"
#include "zarrcore/base/text.h"

namespace gdal_zarr::cf {
namespace {

using zarrcore::Error;
using zarrcore::find_member;
using zarrcore::Json;

struct UnitWords {
  std::string_view words;  // the first is written; longer ones have a plural
  const char* name;
  double size;  // in metres or radians
};

constexpr UnitWords kLengths[] = {
    {"m metre", "metre", 1},
    {"km kilometre", "kilometre", 1000},
    {"cm centimetre", "centimetre", 0.01},
    {"mm millimetre", "millimetre", 0.001},
    {"ft foot feet international_foot international_feet", "foot", 0.3048},
    {"US_survey_foot US_survey_feet", "US survey foot", 1200.0 / 3937.0},
};

constexpr double kDegree = std::numbers::pi / 180;

constexpr UnitWords kAngles[] = {
    {"rad radian", "radian", 1},
    {"mrad milliradian", "milliradian", 1e-3},
    {"urad microradian", "microradian", 1e-6},
    {"deg degree", "degree", kDegree},
    {"arc_minute arcminute arcmin", "arc minute", kDegree / 60},
    {"arc_second arcsecond arcsec", "arc second", kDegree / 3600},
};

constexpr const char* kCounts[] = {"1",     "-",      "none",  "unitless", "dimensionless",
                                   "count", "counts", "index", "pixel",    "pixels"};

// A word in lower case and British spelling, and without the plural.
std::string singular(const char* word) {
  std::string text = zarrcore::lower_case(word);
  if (text.ends_with("meters") || text.ends_with("metres")) text.pop_back();
  if (text.ends_with("meter")) text.replace(text.size() - 2, 2, "re");
  if (text.size() > 6 && text.ends_with('s')) text.pop_back();
  if (text == "us survey foot") text = "us_survey_foot";
  return text;
}

const UnitWords* find_word(std::span<const UnitWords> table, const char* word) {
  const std::string wanted = singular(word);
  const auto found = std::ranges::find_if(table, [&](const UnitWords& unit) {
    return is_word_of(zarrcore::lower_case(unit.words), wanted);
  });
  return found == table.end() ? nullptr : &*found;
}

const UnitWords* find_length(double metres) {
  const auto* found =
      std::find_if(std::begin(kLengths), std::end(kLengths),
                   [&](const UnitWords& unit) { return std::abs(metres / unit.size - 1) < 1e-12; });
  return found == std::end(kLengths) ? nullptr : found;
}

double finite(const Json& value, const char* key) {
  if (value.is_number() && std::isfinite(value.get<double>())) return value.get<double>();
  throw Error(std::string(key) + " holds " + zarrcore::dump_json(value) +
              " where a number is expected");
}

}  // namespace

std::string simplified(std::string_view name) {
  std::string simple;
  for (const char c : zarrcore::lower_case(name)) {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) simple += c;
  }
  return simple;
}

std::string text_in(const Json& attributes, std::string_view name) {
  const std::string* text = zarrcore::find_string(attributes, name);
  return text != nullptr ? *text : std::string();
}

std::vector<std::string> words_in(const Json& attributes, const char* name) {
  std::vector<std::string> words;
  const Json* value = find_member(attributes, name);
  const auto add = [&](const Json& item) {
    const std::string* text = zarrcore::as_string(item);
    if (text != nullptr) std::ranges::move(zarrcore::words_of(*text), std::back_inserter(words));
  };
  if (value != nullptr && value->is_array()) {
    std::ranges::for_each(*value, add);
  } else if (value != nullptr) {
    add(*value);
  }
  return words;
}

void set_words(Json& attributes, const char* name, const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  if (text.empty()) {
    attributes.erase(name);
  } else {
    attributes[name] = text;
  }
}

void skip_spaces(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
}

bool is_word_of(std::string_view list, std::string_view text) {
  if (text.empty() || text.find(' ') != std::string_view::npos) return false;
  for (auto at = list.find(text); at != std::string_view::npos; at = list.find(text, at + 1)) {
    const std::size_t end = at + text.size();
    if ((at == 0 || list[at - 1] == ' ') && (end == list.size() || list[end] == ' ')) return true;
  }
  return false;
}

std::string Attributes::text(const char* key) const {
  const Json* value = find_member(values_, key);
  if (value != nullptr && value->is_array() && value->size() == 1) value = &value->front();
  const std::string* text = value != nullptr ? zarrcore::as_string(*value) : nullptr;
  return text != nullptr ? *text : std::string();
}

std::string Attributes::name(const char* key) const {
  const std::string value = text(key);
  for (const char* placeholder : {"unknown", "undefined", "unnamed", "none"}) {
    if (simplified(value) == placeholder) return {};
  }
  return value;
}

std::vector<double> Attributes::numbers(const char* key) const {
  const Json* value = zarrcore::find_value(values_, key);
  if (value == nullptr) return {};
  std::vector<double> list;
  if (const std::string* text = zarrcore::as_string(*value)) {
    const char* at = text->c_str();
    while (*at != '\0') {
      char* end = nullptr;
      const double number = CPLStrtod(at, &end);
      list.push_back(finite(end == at ? *value : Json(number), key));
      at = end + std::strspn(end, ", ");
    }
    return list;
  }
  if (!value->is_array()) return {finite(*value, key)};
  for (const Json& item : *value) list.push_back(finite(item, key));
  return list;
}

std::optional<double> Attributes::number(const char* key) const {
  const std::vector<double> list = numbers(key);
  if (list.size() > 1) throw Error(std::string(key) + " holds more than one number");
  return list.empty() ? std::nullopt : std::optional(list[0]);
}

std::optional<double> Attributes::positive(const char* key) const {
  const std::optional<double> value = number(key);
  if (value && *value <= 0) throw Error(std::string(key) + " is not positive");
  return value;
}

double Attributes::required(const char* key) const {
  const std::optional<double> value = number(key);
  if (!value) throw Error(std::string(key) + " is missing");
  return *value;
}

Unit read_unit(const std::string& text) {
  const bool is_count = std::any_of(std::begin(kCounts), std::end(kCounts),
                                    [&](const char* word) { return EQUAL(word, text.c_str()); });
  if (text.empty() || is_count) return {};
  // "degrees_east" and its other spellings.
  if (STARTS_WITH_CI(text.c_str(), "degree")) return {UnitKind::angle, kDegree, "degree"};
  char* word = nullptr;
  double factor = CPLStrtod(text.c_str(), &word);
  if (word == text.c_str()) factor = 1;
  while (*word == ' ') ++word;
  if (factor > 0 && std::isfinite(factor)) {
    if (const UnitWords* length = find_word(kLengths, word)) {
      const double metres = factor * length->size;
      const UnitWords* known = find_length(metres);
      return known != nullptr ? Unit{UnitKind::length, known->size, known->name}
                              : Unit{UnitKind::length, metres, text};
    }
    if (const UnitWords* angle = find_word(kAngles, word)) {
      return {UnitKind::angle, factor * angle->size, angle->name};
    }
  }
  return {UnitKind::other, 1, text};
}

std::string format_linear_unit(double metres) {
  const UnitWords* known = find_length(metres);
  return known != nullptr ? std::string(known->words.substr(0, known->words.find(' ')))
                          : zarrcore::dump_json(metres) + " m";
}

}  // namespace gdal_zarr::cf
