// Tables of options: creation options (new_array/creation_options.h), open options
// (entry/open_options.cpp) and configuration options (config_options.h). A table is the only source
// of names, types, defaults and descriptions: GDAL gets it as XML, the documentation is tested
// against that, and the values of options in a call are checked by it. Messages name the option,
// the allowed values, and for an unknown name the option that is probably meant.
#pragma once

#include <cpl_port.h>

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
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

// The option of this name or alias, case-insensitive; null if it does not exist.
const Option* find_option(std::span<const Option> options, std::string_view name);

// The options of these scopes as XML for a GDAL_DMD_…OPTIONLIST, in a root named `element`. Options
// of `raster_scope` get GDAL's attribute scope="raster". `more` is XML of further options.
std::string option_list_xml(std::span<const Option> options, unsigned scopes,
                            std::string_view element, unsigned raster_scope = 0,
                            const std::string& more = {});

// The XML of an option that has no row in a table; `type` is GDAL's word for it.
std::string single_option_xml(std::string_view name, std::string_view type,
                              std::string_view default_value, std::string_view description);

// A text in XML.
std::string xml_escaped(std::string_view text);

// The name of an entry "NAME=VALUE" of a list.
std::string_view entry_name(std::string_view entry);

// Warns of an entry with a name that is not an option of these scopes: always, or only if a similar
// name exists, which is enough for lists whose names GDAL checks. Names that begin with @ are for
// programs and never reported. `kind` is what messages call an option: "creation option".
enum class NameWarning : std::uint8_t { always, if_similar };
void warn_of_unknown_name(std::span<const Option> options, unsigned scopes, std::string_view kind,
                          std::string_view entry, NameWarning warning);
// The same for all entries of a list, and only if a similar name exists.
void warn_of_similar_names(std::span<const Option> options, unsigned scopes, std::string_view kind,
                           CSLConstList list);

// The values of options, given or by default. Options of other scopes are ignored.
class OptionValues {
 public:
  // Throws zarrcore::Error, with the option and its allowed values, on any other value.
  OptionValues(std::span<const Option> options, CSLConstList list, unsigned scopes,
               std::string_view kind);

  bool is_given(std::string_view name) const { return given_.contains(name); }
  // A choice is spelled as in the table; empty when the option is not given and has no default.
  std::string_view text(std::string_view name) const;
  // Returns true if the value of a choice is this one.
  bool is(std::string_view name, std::string_view value) const { return text(name) == value; }
  // For options that have a default or are given.
  bool boolean(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;
  double real(std::string_view name) const;
  // A length for each dimension, 0 for a whole dimension; empty when the option is not given.
  std::optional<std::vector<std::uint64_t>> lengths(std::string_view name) const;
  // Returns true if one of the conditions "NAME=VALUE or NAME=VALUE" holds.
  bool has_one_of(std::string_view conditions) const;

 protected:
  // For options without a row in the table.
  void set(const std::string& name, std::string value) { given_[name] = std::move(value); }

 private:
  std::span<const Option> options_;
  std::map<std::string, std::string, std::less<>> given_;
};

}  // namespace gdal_zarr
