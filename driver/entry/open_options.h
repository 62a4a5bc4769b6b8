// The open options, as GDAL lists them.
#pragma once

#include <string>

#include "driver/gdal/compat.h"
#include "driver/gdal/option_values.h"

namespace gdal_zarr {

// The values of a call. Unknown names that are similar to one that exists get a warning with it.
class OpenOptions : public OptionValues {
 public:
  // Throws zarrcore::Error for a value that is not allowed.
  explicit OpenOptions(CSLConstList list);
};

// The XML of GDAL_DMD_OPENOPTIONLIST.
std::string open_option_list();

}  // namespace gdal_zarr
