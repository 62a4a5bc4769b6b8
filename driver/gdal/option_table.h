// Tables of options: creation options (new_array/creation_option_table.h), open options
// (entry/open_options.h) and configuration options (config_options.h). A table is the only source
// of names, types, defaults and descriptions: GDAL gets it as XML, and the documentation is tested
// against that.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gdal_zarr {

enum class ValueType : std::uint8_t {
  text,
  boolean,
  integer,  // from `low` to `high`
  real,     // likewise
  choice,   // one of `values`
  lengths,  // "256,256"; 0 and -1 are the whole dimension if `low` is negative
};

// A value of a choice.
struct OptionValue {
  std::string_view name;
  std::string_view alias = {};
};

struct Option {
  std::string_view name;
  unsigned scope;  // bits, defined by the table
  ValueType type;
  std::string_view default_value;  // empty for none
  std::string_view description;
  std::span<const OptionValue> values = {};
  double low = std::numeric_limits<double>::lowest();
  double high = std::numeric_limits<double>::max();
  std::string_view alias = {};
  // The values of other options without which this one has no effect: "COMPRESS=ZSTD", "A=B or
  // C=D".
  std::string_view needed = {};
  // For a choice: values that are known at run time only, in addition to `values`.
  std::vector<std::string> (*more_values)() = nullptr;
  // Not in the lists that GDAL gets.
  bool is_hidden = false;
};

// The rows of a table, for use in constant expressions.
namespace rows {

using Text = std::string_view;

constexpr Option text(Text name, unsigned scope, Text default_value, Text description) {
  return {name, scope, ValueType::text, default_value, description};
}
constexpr Option boolean(Text name, unsigned scope, Text default_value, Text description) {
  return {name, scope, ValueType::boolean, default_value, description};
}
constexpr Option choice(Text name, unsigned scope, std::span<const OptionValue> values,
                        Text default_value, Text description) {
  return {name, scope, ValueType::choice, default_value, description, values};
}
constexpr Option integer(Text name, unsigned scope, double low, double high, Text default_value,
                         Text description) {
  return {name, scope, ValueType::integer, default_value, description, {}, low, high};
}
constexpr Option real(Text name, unsigned scope, double low, double high, Text description) {
  return {name, scope, ValueType::real, "", description, {}, low, high};
}
constexpr Option lengths(Text name, unsigned scope, double low, Text description) {
  return {name, scope, ValueType::lengths, "", description, {}, low};
}
constexpr Option with_alias(Text alias, Option option) {
  option.alias = alias;
  return option;
}
constexpr Option or_any_of(std::vector<std::string> (*more_values)(), Option option) {
  option.more_values = more_values;
  return option;
}
constexpr Option hidden(Option option) {
  option.is_hidden = true;
  return option;
}
constexpr Option only_with(Text needed, Option option) {
  option.needed = needed;
  return option;
}

}  // namespace rows

// The option of this name or alias, in letters of any case; null if there is none.
const Option* find_option(std::span<const Option> options, std::string_view name);

// The name of these scopes that `name` is probably meant to be; empty if none is similar.
std::string_view nearest_name(std::span<const Option> options, unsigned scopes,
                              std::string_view name);

// The options of these scopes as XML for a GDAL_DMD_…OPTIONLIST, in a root named `element`. Those
// of `raster_scope` get GDAL's attribute scope="raster". `more` is XML of further options.
std::string option_list_xml(std::span<const Option> options, unsigned scopes,
                            std::string_view element, unsigned raster_scope = 0,
                            const std::string& more = {});

// The XML of an option that has no row in a table; `type` is GDAL's word for it.
std::string single_option_xml(std::string_view name, std::string_view type,
                              std::string_view default_value, std::string_view description);

// A number as option lists and messages show it.
std::string option_number_text(double number);

}  // namespace gdal_zarr
