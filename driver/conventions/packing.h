// What the stored numbers stand for: CF's scale_factor, add_offset and units, and which value means
// that there is none. Read from an array's metadata, and written into it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "driver/conventions/attribute_change.h"
#include "zarrcore/metadata/array_metadata.h"

namespace gdal_zarr {

// Units of a time type in the manner of CF: "seconds since 1970-01-01", "nanoseconds"; empty for
// other types and for the generic unit.
std::string time_units(const zarrcore::DataType& type);

// Strings have none, and bits without a meaning neither.
bool can_have_nodata(const zarrcore::DataType& type);

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

// What makes read_packing() find another packing.
struct PackingChange {
  AttributeChange attributes;
  // The array's fill value from now on; no change when it is nothing. An array that is not new must
  // store its absent chunks before, for they hold the old one; or else the change is not made.
  struct FillValue {
    std::optional<std::vector<std::byte>> element;
  };
  std::optional<FillValue> fill_value;
};

// `packing` but for the consumed attributes, which do not count, is what is to be read afterwards.
//
// Nodata of a new array, whose elements nobody has written or read yet, is its fill value: chunks
// that are never written hold nothing. Without nodata that is zero where the format wants one, and
// none where it does not (v2), for there a zero is taken for nodata, too. `_FillValue` says it as
// well, as xarray writes and reads it.
//
// Of an array that is not new the fill value stays, whatever nodata becomes: it is what absent
// chunks hold. `_FillValue` is all that is set, and goes before it. (In v2 xarray masks the fill
// value nevertheless.) Only when nodata is removed, and the fill value would count instead, has
// this one to go: see PackingChange.
//
// Throws zarrcore::Error when a number is not finite, or when the array's type has no nodata.
PackingChange write_packing(const zarrcore::ArrayMetadata& array, const Packing& packing,
                            bool is_new);

}  // namespace gdal_zarr
