#include "driver/new_array/creation_options.h"

#include <cpl_conv.h>
#include <cpl_string.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "driver/gdal/messages.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/text.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;

// The whole text as a number.
template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

std::optional<zarrcore::Shape> parse_lengths(const std::string& text) {
  const CPLStringList parts(CSLTokenizeString2(
      text.c_str(), ",", CSLT_ALLOWEMPTYTOKENS | CSLT_STRIPLEADSPACES | CSLT_STRIPENDSPACES));
  zarrcore::Shape lengths;
  for (int i = 0; i < parts.size(); ++i) {
    const auto length = zarrcore::parse_number<std::uint64_t>(parts[i]);
    if (!length || *length == 0) return std::nullopt;
    lengths.push_back(*length);
  }
  return lengths;
}

bool is_any_of(const std::string& text, std::initializer_list<const char*> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](const char* word) { return EQUAL(text.c_str(), word); });
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
      for (const OptionValue& value : option.values) {
        if (EQUAL(given.c_str(), std::string(value.name).c_str()) || given == value.alias) {
          return std::string(value.name);
        }
      }
      return std::nullopt;
    case ValueType::lengths:
      return parse_lengths(given) ? std::optional(given) : std::nullopt;
  }
  return std::nullopt;
}

std::string joined(std::span<const OptionValue> values, std::string_view separator) {
  std::string list;
  for (const OptionValue& value : values) {
    if (!list.empty()) list += separator;
    list += value.name;
  }
  return list;
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
    case ValueType::choice:
      return "one of " + joined(option.values, ", ");
    case ValueType::lengths:
      return "a positive length for each dimension, such as 256,256";
    default:
      return "text";
  }
}

const char* fetch(CSLConstList options, const Option& option) {
  const char* given = CSLFetchNameValue(options, std::string(option.name).c_str());
  if (given != nullptr || option.alias.empty()) return given;
  return CSLFetchNameValue(options, std::string(option.alias).c_str());
}

// Whether one of the conditions "NAME=VALUE or NAME=VALUE" holds.
bool is_met(std::string_view conditions, const CreationOptions& options) {
  constexpr std::string_view kOr = " or ";
  for (;;) {
    const std::size_t end = conditions.find(kOr);
    const std::string_view condition = conditions.substr(0, end);
    const std::size_t equals = condition.find('=');
    const std::string_view name = condition.substr(0, equals);
    if (options.is(name, condition.substr(equals + 1))) return true;
    if (end == std::string_view::npos) return false;
    conditions.remove_prefix(end + kOr.size());
  }
}

void warn(const std::string& message) {
  report(CE_Warning, CPLE_AppDefined, "%s", message.c_str());
}

std::string codec_names(std::string_view option) {
  std::span<const OptionValue> values = find_creation_option(option)->values;
  if (values.front().name == "NONE") values = values.subspan(1);
  return zarrcore::lower_case(joined(values, ","));
}

}  // namespace

std::string creation_option_list(unsigned scopes, std::string_view element) {
  return option_list_xml(creation_options(), scopes, element);
}

void warn_of_unused_options(CSLConstList options, unsigned scopes) {
  const CreationOptions values(options, scopes);
  for (CSLConstList entry = options; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::string_view name = text.substr(0, text.find('='));
    const Option* option = find_creation_option(name);
    if (option == nullptr || (option->scope & scopes) == 0 || name.size() == text.size()) {
      warn("\"" + std::string(text) + "\" is not a creation option here and is ignored");
    } else if (!option->needed.empty() && !is_met(option->needed, values)) {
      warn("creation option " + std::string(name) + " has no effect without " +
           std::string(option->needed));
    }
  }
}

CreationOptions::CreationOptions(CSLConstList options, unsigned scopes) {
  for (const Option& option : creation_options()) {
    if ((option.scope & scopes) == 0) continue;
    const char* given = fetch(options, option);
    if (given == nullptr) continue;
    auto value = allowed_value(option, given);
    if (!value) {
      throw Error("creation option " + std::string(option.name) + " is \"" + given + "\", not " +
                  allowed_values(option));
    }
    given_.emplace(option.name, *std::move(value));
  }
}

std::string_view CreationOptions::text(std::string_view name) const {
  const auto given = given_.find(name);
  return given != given_.end() ? std::string_view(given->second)
                               : find_creation_option(name)->default_value;
}

bool CreationOptions::boolean(std::string_view name) const {
  return is(name, "YES");
}

std::int64_t CreationOptions::integer(std::string_view name) const {
  return zarrcore::parse_number<std::int64_t>(text(name)).value();
}

double CreationOptions::real(std::string_view name) const {
  return zarrcore::parse_number<double>(text(name)).value();
}

std::optional<zarrcore::Shape> CreationOptions::lengths(std::string_view name) const {
  return is_given(name) ? parse_lengths(std::string(text(name))) : std::nullopt;
}

std::string creation_data_types() {
  std::string names = "Byte ";
#if GDAL_ZARR_AT_LEAST(3, 7)
  names += "Int8 ";
#endif
  names += "Int16 UInt16 Int32 UInt32 Int64 UInt64 ";
#if GDAL_ZARR_AT_LEAST(3, 11)
  names += "Float16 ";
#endif
  return names + "Float32 Float64 CFloat32 CFloat64";
}

std::string compressor_names() {
  return codec_names("COMPRESS");
}

std::string filter_names() {
  return codec_names("FILTER");
}

std::string blosc_compressor_names() {
  return codec_names("BLOSC_CNAME");
}

}  // namespace gdal_zarr
