// The values of options in a call, checked by their table. Messages name the option, what is
// allowed, and for an unknown name the one that is probably meant.
#pragma once

#include <cpl_port.h>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driver/gdal/option_table.h"

namespace gdal_zarr {

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
  // Whether the value of a choice is this one.
  bool is(std::string_view name, std::string_view value) const { return text(name) == value; }
  // For options that have a default or are given.
  bool boolean(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;
  double real(std::string_view name) const;
  // A length for each dimension, 0 for a whole dimension; empty when the option is not given.
  std::optional<std::vector<std::uint64_t>> lengths(std::string_view name) const;
  // Whether one of the conditions "NAME=VALUE or NAME=VALUE" holds.
  bool has_one_of(std::string_view conditions) const;

 protected:
  // For options without a row in the table.
  void set(const std::string& name, std::string value) { given_[name] = std::move(value); }

 private:
  std::span<const Option> options_;
  std::map<std::string, std::string, std::less<>> given_;
};

}  // namespace gdal_zarr
