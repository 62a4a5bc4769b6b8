// Packing, units and nodata of an array (CF conventions, chapter 8 and sections 2.5.1 and 3.1,
// https://cfconventions.org/cf-conventions/cf-conventions.html#packed-data), read from its metadata
// and written into it.
//
//   scale_factor = 0.01   add_offset = 273.15
//   units = "K"           _FillValue = -32768
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "driver/conventions/gdal_attributes.h"
#include "zarrcore/metadata/array_metadata.h"

namespace gdal_zarr {

// The type of the elements that users see: with `_Unsigned` of "true" or "false" (netCDF Best
// Practices), integers of the other signedness than the stored ones.
zarrcore::DataType seen_type(const zarrcore::ArrayMetadata& array);

// The unit of a time type in CF's notation: "seconds since 1970-01-01", "nanoseconds". Empty for
// other types and for the generic unit.
std::string time_units(const zarrcore::DataType& type);

struct Packing {
  std::optional<double> scale;
  std::optional<double> offset;
  std::string unit;
  // One element of the array's type, in the host's byte order; for a type of variable length, the
  // element's content.
  std::optional<std::vector<std::byte>> nodata;
  // Attributes that these values replace, which need not be shown.
  std::vector<std::string> consumed_attributes;
};

// The nodata value is the attribute `_FillValue` (for floats in v3, xarray writes base64 of a
// float64 there), else of `missing_value`, else the fill value; but not a fill value of zero if the
// format requires writers to state one.
Packing read_packing(const zarrcore::ArrayMetadata& array);

// Makes read_packing() return another packing.
struct PackingChange {
  AttributeChange attributes;
  // The array's new fill value; unset for no change. Missing chunks of an existing array have the
  // old fill value as their value: they must be stored before the change.
  struct FillValue {
    std::optional<std::vector<std::byte>> element;
  };
  std::optional<FillValue> fill_value;
};

// After the change read_packing() returns `packing`, whose consumed attributes are ignored.
//
// The nodata value of a new array, of which no elements were written or read yet, is its fill
// value: chunks that are never written have no data. Without nodata the fill value is zero if the
// format requires one, and none if it does not (v2), because a zero would be read as nodata.
// `_FillValue` states it as well, as xarray writes and reads it.
//
// An array that is not new keeps its fill value, the value of missing chunks: only `_FillValue` is
// set, which has precedence. (In v2 xarray masks the fill value nevertheless.) If nodata is removed
// and the fill value would be read as nodata, it must be removed: see PackingChange.
//
// Throws zarrcore::Error when a number is not finite, or when the array's type cannot have nodata.
PackingChange write_packing(const zarrcore::ArrayMetadata& array, const Packing& packing,
                            bool is_new);

}  // namespace gdal_zarr
