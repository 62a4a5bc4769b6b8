// Grids of rows and columns, as messages of GRIB describe them (WMO Manual on Codes, FM 92), and
// where their points are.
#pragma once

#include <cstdint>
#include <vector>

namespace gdal_zarr {

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

}  // namespace gdal_zarr
