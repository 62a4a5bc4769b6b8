// What the stored numbers stand for: CF's scale_factor, add_offset and units, and which value means
// that there is none.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "zarrcore/metadata/array_metadata.h"

namespace gdal_zarr {

// Units of a time type in the manner of CF: "seconds since 1970-01-01", "nanoseconds"; empty for
// other types and for the generic unit.
std::string time_units(const zarrcore::DataType& type);

struct Packing {
  std::optional<double> scale;
  std::optional<double> offset;
  std::string unit;
  // One element of the array's type, in the host's byte order.
  std::optional<std::vector<std::byte>> nodata;
  // Attributes that are told by these values and need not be shown again.
  std::vector<std::string> consumed_attributes;
};

// The nodata value is that of the attribute `_FillValue` (for floats in v3, xarray writes base64 of
// a float64 there), else of `missing_value`, else the fill value; but a fill value of zero that the
// format made the writer state does not count.
Packing read_packing(const zarrcore::ArrayMetadata& array);

}  // namespace gdal_zarr
