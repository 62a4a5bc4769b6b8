#include "driver/gdal/option_table.h"

#include <cpl_conv.h>
#include <cpl_string.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace gdal_zarr {
namespace {

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

// How far a name is from one that exists; SIZE_MAX if they are not similar.
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

std::string xml_escaped(std::string_view text) {
  char* escaped = CPLEscapeString(text.data(), static_cast<int>(text.size()), CPLES_XML);
  std::string result(escaped);
  CPLFree(escaped);
  return result;
}

// ` name="value"`; empty without a value.
std::string xml_attribute(std::string_view name, std::string_view value) {
  if (value.empty()) return {};
  return ' ' + std::string(name) + "=\"" + xml_escaped(value) + '"';
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
  const auto more =
      option.more_values != nullptr ? option.more_values() : std::vector<std::string>();
  if (option.values.empty() && more.empty()) return xml + "/>\n";
  xml += ">\n";
  for (const OptionValue& value : option.values) {
    xml += "    <Value" + xml_attribute("alias", value.alias) + '>' + xml_escaped(value.name) +
           "</Value>\n";
  }
  for (const std::string& value : more) xml += "    <Value>" + xml_escaped(value) + "</Value>\n";
  return xml + "  </Option>\n";
}

}  // namespace

std::string option_number_text(double number) {
  return CPLSPrintf("%.17g", number);
}

const Option* find_option(std::span<const Option> options, std::string_view name) {
  const auto found = std::find_if(options.begin(), options.end(), [&](const Option& option) {
    return is_same_name(option.name, name) ||
           (!option.alias.empty() && is_same_name(option.alias, name));
  });
  return found == options.end() ? nullptr : &*found;
}

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

}  // namespace gdal_zarr
