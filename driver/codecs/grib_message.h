// Messages of GRIB editions 1 and 2 (WMO Manual on Codes, FM 92): their headers, and where the
// points of their grids are. Pure functions; those over bytes throw Error when the bytes are not
// such a message.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "zarrcore/base/buffer.h"

namespace gdal_zarr {

// A grid of rows and columns, as a message describes it.
struct GribGrid {
  enum class Kind : std::uint8_t { latlon, gaussian, projected };

  Kind kind;
  bool is_rotated;
  std::uint32_t columns;
  std::uint32_t rows;
  std::uint8_t scanning;  // flag table 8 of edition 1, 3.4 of edition 2
  double first_latitude;  // degrees
  double first_longitude;
  double last_longitude;
  double last_latitude;
  double column_step;  // degrees or, of projected grids, metres; not negative
  double row_step;
  std::uint32_t parallels;  // of Gaussian grids, between a pole and the equator
  double pole_latitude;     // of rotated grids: the southern pole
  double pole_longitude;
  double rotation;

  bool scans_west() const { return (scanning & 0x80) != 0; }
  bool scans_north() const { return (scanning & 0x40) != 0; }
  // columns are stored one after another
  bool scans_columns() const { return (scanning & 0x20) != 0; }
  bool alternates() const { return (scanning & 0x10) != 0; }  // every second row is reversed
  // Each row has one latitude, and each column one longitude.
  bool is_regular() const { return kind != Kind::projected && !is_rotated; }

  std::uint64_t point_count() const { return std::uint64_t{columns} * rows; }
  // Steps from the first point of the message to the one at `index`.
  struct Steps {
    std::uint32_t column;
    std::uint32_t row;
  };
  Steps steps(std::uint64_t index) const;
};

// Latitudes of the rows in the order of the message, in degrees. For grids that are regular apart
// from a rotation.
std::vector<double> row_latitudes(const GribGrid& grid);
// Longitudes of the columns likewise, from 0 to less than 360 unless the grid is rotated.
std::vector<double> column_longitudes(const GribGrid& grid);

struct GeographicPoint {
  double latitude;
  double longitude;
};
// The geographic position of a point of a rotated grid.
GeographicPoint unrotated(const GribGrid& grid, GeographicPoint rotated);

// Normalizes to the range from 0 to less than 360.
double normalized_longitude(double longitude);

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
