// Creation options: the list that GDAL gets, and their values in a call. All of it follows from the
// table in creation_option_table.cpp. To add an option, add a row there and read its value where it
// takes effect.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "driver/gdal/compat.h"
#include "driver/new_array/creation_option_table.h"
#include "zarrcore/base/strided.h"

namespace gdal_zarr {

// The XML of a GDAL_DMD_…CREATIONOPTIONLIST; `element` is the name of its root.
std::string creation_option_list(unsigned scopes, std::string_view element);

// Warns of entries without effect: names that are not options of these scopes, and options that
// need another one that is not given. For lists that GDAL does not validate, unlike those for
// datasets. Throws as CreationOptions does.
void warn_of_unused_options(CSLConstList options, unsigned scopes);

// The values of options, given or by default. Options of other scopes are ignored.
class CreationOptions {
 public:
  // Throws zarrcore::Error, with the option and its allowed values, on any other value.
  CreationOptions(CSLConstList options, unsigned scopes);

  bool is_given(std::string_view name) const { return given_.contains(name); }
  // A choice is spelled as in the table; empty when the option is not given and has no default.
  std::string_view text(std::string_view name) const;
  // Whether the value of a choice is this one.
  bool is(std::string_view name, std::string_view value) const { return text(name) == value; }
  // For options that have a default or are given.
  bool boolean(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;
  double real(std::string_view name) const;
  // A positive length for each dimension; empty when the option is not given.
  std::optional<zarrcore::Shape> lengths(std::string_view name) const;

 private:
  std::map<std::string_view, std::string> given_;
};

// Values of the driver's metadata items: the data types of rasters, separated by spaces, and the
// values of options that name a codec, in lower case, separated by commas.
std::string creation_data_types();
std::string compressor_names();
std::string filter_names();
std::string blosc_compressor_names();

}  // namespace gdal_zarr
