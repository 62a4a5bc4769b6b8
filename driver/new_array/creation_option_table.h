// The table of creation options; creation_options.h reads their values.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "driver/gdal/option_table.h"

namespace gdal_zarr {

// What an option applies to: a store, a raster created in it, each array. Calls take options of one
// scope or of several, so these are bits.
enum OptionScope : std::uint8_t {
  kDatasetOption = 1,
  kRasterOption = 2,
  kArrayOption = 4,
};
inline constexpr unsigned kAllOptions = kDatasetOption | kRasterOption | kArrayOption;

std::span<const Option> creation_options();

// The option of this name or alias, in letters of any case; null if there is none.
const Option* find_creation_option(std::string_view name);

}  // namespace gdal_zarr
