#include "driver/gdal/options.h"

#include <cpl_conv.h>
#include <cpl_string.h>

#include <algorithm>
#include <initializer_list>
#include <numeric>
#include <utility>

#include "driver/gdal/messages.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/text.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;

bool is_same_name(std::string_view a, std::string_view b) {
  return a.size() == b.size() && EQUALN(a.data(), b.data(), a.size());
}

bool is_same_letter(char a, char b) {
  return EQUALN(&a, &b, 1);
}

// How many letters must be added, removed or replaced to turn one name into the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (is_same_letter(a[i], b[j]) ? 0 : 1);
      diagonal = std::exchange(row[j + 1], std::min({replaced, row[j] + 1, row[j + 1] + 1}));
    }
  }
  return row.back();
}

// The distance of a given name from an existing one; SIZE_MAX if they are not similar.
std::size_t distance_of_names(std::string_view given, std::string_view name) {
  constexpr std::size_t kLeastPrefix = 4;
  const std::size_t shorter = std::min(given.size(), name.size());
  if (shorter >= kLeastPrefix && is_same_name(given.substr(0, shorter), name.substr(0, shorter))) {
    return 1;
  }
  const std::size_t distance = edit_distance(given, name);
  return distance <= std::max<std::size_t>(1, given.size() / 3) && distance < name.size()
             ? distance
             : SIZE_MAX;
}

// The name in these scopes that was probably meant by `name`; empty if no name is similar.
std::string_view nearest_name(std::span<const Option> options, unsigned scopes,
                              std::string_view name) {
  std::string_view nearest;
  std::size_t least = SIZE_MAX;
  for (const Option& option : options) {
    if ((option.scope & scopes) == 0 || option.is_hidden) continue;
    for (const std::string_view known : {option.name, option.alias}) {
      const std::size_t distance = known.empty() ? SIZE_MAX : distance_of_names(name, known);
      if (distance < least) {
        least = distance;
        nearest = known;
      }
    }
  }
  return nearest;
}

// ` name="value"`; empty without a value.
std::string xml_attribute(std::string_view name, std::string_view value) {
  if (value.empty()) return {};
  return ' ' + std::string(name) + "=\"" + xml_escaped(value) + '"';
}

// A number as option lists and messages show it.
std::string option_number_text(double number) {
  return CPLSPrintf("%.17g", number);
}

std::string_view xml_type(ValueType type) {
  switch (type) {
    case ValueType::boolean:
      return "boolean";
    case ValueType::integer:
      return "int";
    case ValueType::real:
      return "float";
    case ValueType::choice:
      return "string-select";
    default:
      return "string";
  }
}

std::vector<std::string> more_values(const Option& option) {
  return option.more_values != nullptr ? option.more_values() : std::vector<std::string>();
}

std::string option_xml(const Option& option, bool is_for_rasters) {
  std::string description(option.description);
  if (!option.needed.empty()) description.append(". Only with ").append(option.needed);
  std::string xml = "  <Option" + xml_attribute("name", option.name) +
                    xml_attribute("alias", option.alias) +
                    xml_attribute("type", xml_type(option.type)) +
                    xml_attribute("default", option.default_value) +
                    xml_attribute("scope", is_for_rasters ? "raster" : "") +
                    xml_attribute("description", description);
  if (option.type == ValueType::integer || option.type == ValueType::real) {
    xml += xml_attribute("min", option_number_text(option.low)) +
           xml_attribute("max", option_number_text(option.high));
  }
  const std::vector<std::string> more = more_values(option);
  if (option.values.empty() && more.empty()) return xml + "/>\n";
  xml += ">\n";
  for (const OptionValue& value : option.values) {
    xml += "    <Value" + xml_attribute("alias", value.alias) + '>' + xml_escaped(value.name) +
           "</Value>\n";
  }
  for (const std::string& value : more) xml += "    <Value>" + xml_escaped(value) + "</Value>\n";
  return xml + "  </Option>\n";
}

std::optional<std::vector<std::uint64_t>> parse_lengths(const Option& option,
                                                        const std::string& text) {
  const CPLStringList parts(CSLTokenizeString2(
      text.c_str(), ",", CSLT_ALLOWEMPTYTOKENS | CSLT_STRIPLEADSPACES | CSLT_STRIPENDSPACES));
  std::vector<std::uint64_t> lengths;
  for (int i = 0; i < parts.size(); ++i) {
    const bool is_whole = option.low < 0 && (EQUAL(parts[i], "0") || EQUAL(parts[i], "-1"));
    const auto length = is_whole ? 0 : zarrcore::parse_number<std::uint64_t>(parts[i]);
    if (!length || (*length == 0 && !is_whole)) return std::nullopt;
    lengths.push_back(*length);
  }
  return lengths;
}

bool is_any_of(const std::string& text, std::initializer_list<const char*> words) {
  return std::ranges::any_of(words, [&](const char* word) { return EQUAL(text.c_str(), word); });
}

std::optional<std::string> allowed_choice(const Option& option, const std::string& given) {
  for (const OptionValue& value : option.values) {
    if (EQUAL(given.c_str(), std::string(value.name).c_str()) || given == value.alias) {
      return std::string(value.name);
    }
  }
  for (std::string& value : more_values(option)) {
    if (EQUAL(given.c_str(), value.c_str())) return std::move(value);
  }
  return std::nullopt;
}

// The given value in the spelling of the table; empty when it is not allowed.
std::optional<std::string> allowed_value(const Option& option, const std::string& given) {
  switch (option.type) {
    case ValueType::text:
      return given;
    case ValueType::boolean:
      if (is_any_of(given, {"YES", "TRUE", "ON", "1"})) return "YES";
      if (is_any_of(given, {"NO", "FALSE", "OFF", "0"})) return "NO";
      return std::nullopt;
    case ValueType::integer: {
      const auto number = zarrcore::parse_number<std::int64_t>(given);
      if (!number || static_cast<double>(*number) < option.low ||
          static_cast<double>(*number) > option.high) {
        return std::nullopt;
      }
      return std::to_string(*number);
    }
    case ValueType::real: {
      const auto number = zarrcore::parse_number<double>(given);
      const bool is_in_range = number && *number >= option.low && *number <= option.high;
      return is_in_range ? std::optional(given) : std::nullopt;
    }
    case ValueType::choice:
      return allowed_choice(option, given);
    case ValueType::lengths:
      return parse_lengths(option, given) ? std::optional(given) : std::nullopt;
  }
  return std::nullopt;
}

std::string allowed_values(const Option& option) {
  switch (option.type) {
    case ValueType::boolean:
      return "YES or NO";
    case ValueType::integer:
      return "an integer from " + option_number_text(option.low) + " to " +
             option_number_text(option.high);
    case ValueType::real:
      return "a number from " + option_number_text(option.low) + " to " +
             option_number_text(option.high);
    case ValueType::choice: {
      std::string list;
      for (const OptionValue& value : option.values) {
        list.append(list.empty() ? "" : ", ").append(value.name);
      }
      for (const std::string& value : more_values(option)) list += ", " + value;
      return "one of " + list;
    }
    case ValueType::lengths:
      return "a positive length for each dimension, such as 256,256";
    default:
      return "text";
  }
}

const char* fetch(CSLConstList list, const Option& option) {
  const char* given = CSLFetchNameValue(list, std::string(option.name).c_str());
  if (given != nullptr || option.alias.empty()) return given;
  return CSLFetchNameValue(list, std::string(option.alias).c_str());
}

}  // namespace

std::string xml_escaped(std::string_view text) {
  char* escaped = CPLEscapeString(text.data(), static_cast<int>(text.size()), CPLES_XML);
  std::string result(escaped);
  CPLFree(escaped);
  return result;
}

const Option* find_option(std::span<const Option> options, std::string_view name) {
  const auto found = std::ranges::find_if(options, [&](const Option& option) {
    return is_same_name(option.name, name) ||
           (!option.alias.empty() && is_same_name(option.alias, name));
  });
  return found == options.end() ? nullptr : &*found;
}

std::string single_option_xml(std::string_view name, std::string_view type,
                              std::string_view default_value, std::string_view description) {
  return "  <Option" + xml_attribute("name", name) + xml_attribute("type", type) +
         xml_attribute("default", default_value) + xml_attribute("description", description) +
         "/>\n";
}

std::string option_list_xml(std::span<const Option> options, unsigned scopes,
                            std::string_view element, unsigned raster_scope,
                            const std::string& more) {
  std::string xml = '<' + std::string(element) + ">\n";
  for (const Option& option : options) {
    if ((option.scope & scopes) == 0 || option.is_hidden) continue;
    xml += option_xml(option, (option.scope & raster_scope) != 0);
  }
  return xml + more + "</" + std::string(element) + '>';
}

std::string_view entry_name(std::string_view entry) {
  return entry.substr(0, entry.find('='));
}

void warn_of_unknown_name(std::span<const Option> options, unsigned scopes, std::string_view kind,
                          std::string_view entry, NameWarning warning) {
  const std::string_view name = entry_name(entry);
  const Option* option = find_option(options, name);
  const bool is_known =
      option != nullptr && (option->scope & scopes) != 0 && name.size() < entry.size();
  if (is_known || entry.starts_with('@')) return;
  const std::string_view nearest = nearest_name(options, scopes, name);
  if (nearest.empty() && warning == NameWarning::if_similar) return;
  std::string message = "\"" + std::string(entry) + "\" is not ";
  message.append(kind.starts_with('o') ? "an " : "a ").append(kind);
  message += " here and is ignored";
  if (nearest == name) {
    message += ": it has no value";
  } else if (!nearest.empty()) {
    message.append("; did you mean ").append(nearest).append("?");
  }
  report(CE_Warning, CPLE_AppDefined, "%s", message.c_str());
}

void warn_of_similar_names(std::span<const Option> options, unsigned scopes, std::string_view kind,
                           CSLConstList list) {
  for (CSLConstList entry = list; entry != nullptr && *entry != nullptr; ++entry) {
    warn_of_unknown_name(options, scopes, kind, *entry, NameWarning::if_similar);
  }
}

OptionValues::OptionValues(std::span<const Option> options, CSLConstList list, unsigned scopes,
                           std::string_view kind)
    : options_(options) {
  for (const Option& option : options) {
    if ((option.scope & scopes) == 0) continue;
    const char* given = fetch(list, option);
    if (given == nullptr) continue;
    auto value = allowed_value(option, given);
    if (!value) {
      throw Error(std::string(kind) + ' ' + std::string(option.name) + " is \"" + given +
                  "\", not " + allowed_values(option));
    }
    given_.emplace(option.name, *std::move(value));
  }
}

std::string_view OptionValues::text(std::string_view name) const {
  const auto given = given_.find(name);
  if (given != given_.end()) return given->second;
  const Option* option = find_option(options_, name);
  return option != nullptr ? option->default_value : std::string_view();
}

bool OptionValues::boolean(std::string_view name) const {
  return is(name, "YES");
}

std::int64_t OptionValues::integer(std::string_view name) const {
  return zarrcore::parse_number<std::int64_t>(text(name)).value();
}

double OptionValues::real(std::string_view name) const {
  return zarrcore::parse_number<double>(text(name)).value();
}

std::optional<std::vector<std::uint64_t>> OptionValues::lengths(std::string_view name) const {
  if (!is_given(name)) return std::nullopt;
  return parse_lengths(*find_option(options_, name), std::string(text(name)));
}

bool OptionValues::has_one_of(std::string_view conditions) const {
  constexpr std::string_view kOr = " or ";
  for (;;) {
    const std::size_t end = conditions.find(kOr);
    const std::string_view condition = conditions.substr(0, end);
    const std::size_t equals = condition.find('=');
    if (is(condition.substr(0, equals), condition.substr(equals + 1))) return true;
    if (end == std::string_view::npos) return false;
    conditions.remove_prefix(end + kOr.size());
  }
}

}  // namespace gdal_zarr
