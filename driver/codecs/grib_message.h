// Messages of GRIB editions 1 and 2 (WMO Manual on Codes, FM 92): their headers. Pure functions
// over bytes; all throw Error when the bytes are not such a message.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "driver/codecs/grib_grid.h"
#include "zarrcore/base/buffer.h"

namespace gdal_zarr {

// How values are packed in edition 2: (x · unit + reference) · factor, for integers x.
struct GribScale {
  double reference;
  double unit;
  double factor;

  // The double-precision value for a value that was computed in single precision, as old versions
  // of GDAL do.
  double exact(double value) const;
};

struct GribMessage {
  zarrcore::ByteSpan bytes;  // without what follows it
  int edition;
  GribGrid grid;
  // Edition 1: the first four flags of the binary data section. Edition 2: the number of the data
  // representation template.
  unsigned packing;
  // Edition 2: IEEE numbers, and the bytes of each.
  zarrcore::ByteSpan data;
  std::size_t ieee_size;
  std::optional<GribScale> scale;  // null in edition 1, and if values are IEEE numbers
  bool manages_missing;            // complex packing with its own missing values
  // If so, where the message states how they are stored, and whether that is an integer.
  std::size_t missing_offset;
  bool missing_is_integer;
  // A bit for each point, in the order of the message; those that are 0 have no value.
  std::optional<zarrcore::ByteSpan> bitmap;

  bool is_missing(std::uint64_t index) const;
};

constexpr unsigned kGribIeee = 4;  // the template of IEEE numbers in edition 2

// The values of a message of IEEE numbers, in its order; NaN for those that the bitmap excludes.
std::vector<double> ieee_values(const GribMessage& message);

// Throws Error when `chunk` holds several messages or fields, or a grid that does not consist of
// rows and columns.
GribMessage parse_grib(zarrcore::ByteSpan chunk);

}  // namespace gdal_zarr
