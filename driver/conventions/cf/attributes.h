// Reads the attributes of a CF grid mapping variable. Numbers may be integers, floating point, text
// or lists of one; names may be spelled in many ways. Throws zarrcore::Error, with the attribute's
// name, on values of another kind.
#pragma once

#include <cpl_conv.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "zarrcore/base/error.h"
#include "zarrcore/base/json.h"
#include "zarrcore/base/text.h"

namespace gdal_zarr::cf {

// Letters and digits in lower case: "WGS 84", "WGS84" and "wgs_84" are one name.
inline std::string simplified(std::string_view name) {
  std::string simple;
  for (const char c : zarrcore::lower_case(name)) {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) simple += c;
  }
  return simple;
}

// A text attribute; empty if it is absent or anything else.
inline std::string text_in(const zarrcore::Json& attributes, std::string_view name) {
  const std::string* text = zarrcore::find_string(attributes, name);
  return text != nullptr ? *text : std::string();
}

// The words of a text attribute, or of a list of texts; none if it is absent or anything else.
inline std::vector<std::string> words_in(const zarrcore::Json& attributes, const char* name) {
  std::vector<std::string> words;
  const zarrcore::Json* value = zarrcore::find_member(attributes, name);
  const auto add = [&](const zarrcore::Json& item) {
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

// Sets a text attribute to these words; removes it if there are none.
inline void set_words(zarrcore::Json& attributes, const char* name,
                      const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  if (text.empty()) {
    attributes.erase(name);
  } else {
    attributes[name] = text;
  }
}

// Returns true if a text is one of the words of a list, which spaces separate.
inline bool is_word_of(std::string_view list, std::string_view text) {
  if (text.empty() || text.find(' ') != std::string_view::npos) return false;
  for (auto at = list.find(text); at != std::string_view::npos; at = list.find(text, at + 1)) {
    const std::size_t end = at + text.size();
    if ((at == 0 || list[at - 1] == ' ') && (end == list.size() || list[end] == ' ')) return true;
  }
  return false;
}

class Attributes {
 public:
  explicit Attributes(const zarrcore::Json& values) : values_(values) {}

  // Empty when the attribute is absent. Here and below, a list of one counts as its element.
  std::string text(const char* key) const {
    const zarrcore::Json* value = zarrcore::find_member(values_, key);
    if (value != nullptr && value->is_array() && value->size() == 1) value = &value->front();
    const std::string* text = value != nullptr ? zarrcore::as_string(*value) : nullptr;
    return text != nullptr ? *text : std::string();
  }

  // The text of an attribute that is a name. Placeholders for missing names count as absent.
  std::string name(const char* key) const {
    const std::string value = text(key);
    for (const char* placeholder : {"unknown", "undefined", "unnamed", "none"}) {
      if (simplified(value) == placeholder) return {};
    }
    return value;
  }

  // Empty when the attribute is absent.
  std::vector<double> numbers(const char* key) const {
    const zarrcore::Json* value = zarrcore::find_member(values_, key);
    if (value == nullptr || value->is_null()) return {};
    std::vector<double> list;
    if (const std::string* text = zarrcore::as_string(*value)) {
      const char* at = text->c_str();
      while (*at != '\0') {
        char* end = nullptr;
        const double number = CPLStrtod(at, &end);
        list.push_back(finite(end == at ? *value : zarrcore::Json(number), key));
        at = end + std::strspn(end, ", ");
      }
      return list;
    }
    if (!value->is_array()) return {finite(*value, key)};
    for (const zarrcore::Json& item : *value) list.push_back(finite(item, key));
    return list;
  }

  std::optional<double> number(const char* key) const {
    const std::vector<double> list = numbers(key);
    if (list.size() > 1) throw zarrcore::Error(std::string(key) + " holds more than one number");
    return list.empty() ? std::nullopt : std::optional(list[0]);
  }

  std::optional<double> positive(const char* key) const {
    const std::optional<double> value = number(key);
    if (value && *value <= 0) throw zarrcore::Error(std::string(key) + " is not positive");
    return value;
  }

  double required(const char* key) const {
    const std::optional<double> value = number(key);
    if (!value) throw zarrcore::Error(std::string(key) + " is missing");
    return *value;
  }

 private:
  static double finite(const zarrcore::Json& value, const char* key) {
    if (value.is_number() && std::isfinite(value.get<double>())) return value.get<double>();
    throw zarrcore::Error(std::string(key) + " holds " + zarrcore::dump_json(value) +
                          " where a number is expected");
  }

  const zarrcore::Json& values_;
};

}  // namespace gdal_zarr::cf
