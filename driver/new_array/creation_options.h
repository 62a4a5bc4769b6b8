// Creation options: which there are, as GDAL lists them and as they are checked. All comes from one
// table in creation_options.cpp; adding an option is adding a row.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "driver/gdal/compat.h"
#include "zarrcore/base/strided.h"

namespace gdal_zarr {

// What an option is for: a store, a raster that is created in one, each array. Calls take options
// of one scope or of several: these are bits.
enum OptionScope : unsigned {
  kDatasetOption = 1,
  kRasterOption = 2,
  kArrayOption = 4,
};
inline constexpr unsigned kAllOptions = kDatasetOption | kRasterOption | kArrayOption;

// The XML of a GDAL_DMD_…CREATIONOPTIONLIST; `element` is the name of its root.
std::string creation_option_list(unsigned scopes, std::string_view element);

// Warns of what would be passed over: names that are no options of these scopes, and options that
// mean something only together with another that is not given. For lists that GDAL does not look
// through itself, as it does when it creates datasets. Throws as CreationOptions does.
void warn_of_unused_options(CSLConstList options, unsigned scopes);

// The values of options, each given or by default. Options of other scopes are passed over.
class CreationOptions {
 public:
  // Throws zarrcore::Error, which names the option and says what is allowed, on a value that is
  // not.
  CreationOptions(CSLConstList options, unsigned scopes);

  bool is_given(std::string_view name) const { return given_.contains(name); }
  // Of several allowed values, the spelling in the table; empty when there is no default.
  std::string_view text(std::string_view name) const;
  // Whether the value of a choice is this one.
  bool is(std::string_view name, std::string_view value) const { return text(name) == value; }
  // Of options that have a default, or are given.
  bool boolean(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;
  double real(std::string_view name) const;
  // A length for each dimension, none of them zero; nothing when the option is not given.
  std::optional<zarrcore::Shape> lengths(std::string_view name) const;

 private:
  std::map<std::string_view, std::string> given_;
};

// For the driver's metadata items of these names: the data types of rasters, separated by blanks,
// and the values of options that name a codec, in small letters, separated by commas.
std::string creation_data_types();
std::string compressor_names();
std::string filter_names();
std::string blosc_compressor_names();

}  // namespace gdal_zarr
