// Creation options: the list that GDAL gets, and their values in a call. All of it follows from the
// table in creation_options.cpp. To add an option, add a row there and read its value where it
// takes effect.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "driver/codecs/gdal_codecs.h"
#include "driver/gdal/compat.h"
#include "driver/gdal/options.h"

namespace gdal_zarr {

// What an option applies to: a store, a raster created in it, each array. Calls take options of one
// or several scopes, so these are bits.
enum OptionScope : std::uint8_t {
  kDatasetOption = 1,
  kRasterOption = 2,
  kArrayOption = 4,
};
inline constexpr unsigned kAllOptions = kDatasetOption | kRasterOption | kArrayOption;

std::span<const Option> creation_options();

// The option of this name or alias, case-insensitive; null if it does not exist.
const Option* find_creation_option(std::string_view name);

// The XML of a GDAL_DMD_…CREATIONOPTIONLIST; `element` is the name of its root.
std::string creation_option_list(unsigned scopes, std::string_view element);

// Warns of entries without effect: names that are not options of these scopes, and options that
// require another option that is not given. For lists that GDAL does not validate, unlike creation
// options of datasets. Throws as CreationOptions does.
void warn_of_unused_options(CSLConstList options, unsigned scopes);

// A copy of the options of an array without a BLOCKSIZE beside CHUNKS=AUTO, SHARDING=AUTO or
// CHUNK_ASPECT_RATIO: when it copies, GDAL 3.13 adds the block size of the source, even if the
// caller's options determine the chunks.
CPLStringList without_source_blocks(CSLConstList options);

// Adds to GDAL's own warnings about unknown names those that exist and are similar.
void suggest_creation_options(CSLConstList options);

// The values of options, given or by default. Options of other scopes are ignored. A compressor
// that is registered at run time has its own options, ID_NAME.
class CreationOptions : public OptionValues {
 public:
  // Throws zarrcore::Error, with the option and its allowed values, on any other value.
  CreationOptions(CSLConstList options, unsigned scopes);

  // The registered compressor that COMPRESS names, if it is one.
  const std::optional<RegisteredCompressor>& registered() const { return registered_; }

 private:
  std::optional<RegisteredCompressor> registered_;
};

// The creation option for an option of a registered compressor.
std::string creation_option_name(const RegisteredCompressor& compressor,
                                 const CompressorOption& option);

// Values of the driver's metadata items: the data types of rasters, separated by spaces, and the
// values of an option that names a codec, in lower case, separated by commas.
std::string creation_data_types();
std::string codec_names(std::string_view option);

}  // namespace gdal_zarr
