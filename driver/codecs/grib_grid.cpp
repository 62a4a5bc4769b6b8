// Where the points of a grid are.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "driver/codecs/grib_message.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;

// The latitude of a Gaussian grid at `index` from the north, of 2 · `parallels`: from the root of a
// Legendre polynomial, by Newton's method.
double gaussian_latitude(std::uint32_t parallels, std::uint32_t index) {
  const auto degree = static_cast<double>(2 * parallels);
  double root = std::cos(std::numbers::pi * (index + 0.75) / (degree + 0.5));
  for (int round = 0; round < 10; ++round) {
    double before = 1;
    double value = root;
    for (std::uint32_t n = 2; n <= 2 * parallels; ++n) {
      const double next = ((2.0 * n - 1) * root * value - (n - 1.0) * before) / n;
      before = value;
      value = next;
    }
    const double change = value * (1 - root * root) / (degree * (before - root * value));
    root -= change;
    if (std::abs(change) < 1e-15) break;
  }
  return std::asin(root) * 180 / std::numbers::pi;
}

}  // namespace

GribGrid::Steps GribGrid::steps(std::uint64_t index) const {
  const std::uint32_t length = scans_columns() ? rows : columns;
  const auto line = static_cast<std::uint32_t>(index / length);
  auto place = static_cast<std::uint32_t>(index % length);
  if (alternates() && line % 2 == 1) place = length - 1 - place;
  return scans_columns() ? Steps{line, place} : Steps{place, line};
}

double normalized_longitude(double longitude) {
  const double rest = std::fmod(longitude, 360);
  return rest < 0 ? rest + 360 : rest;
}

std::vector<double> row_latitudes(const GribGrid& grid) {
  std::vector<double> latitudes(grid.rows);
  if (grid.kind == GribGrid::Kind::gaussian) {
    constexpr std::uint32_t kMaxParallels = 4096;
    if (grid.parallels == 0 || grid.parallels > kMaxParallels || grid.rows > 2 * grid.parallels) {
      throw Error("the Gaussian grid of the GRIB message has " + std::to_string(grid.parallels) +
                  " parallels, which does not fit its rows");
    }
    // The row from the north that is closest to the first latitude.
    const double guess = (90 - grid.first_latitude) / 180 * (2.0 * grid.parallels + 0.5) - 0.75;
    const double last = 2.0 * grid.parallels - grid.rows;
    const double first =
        std::clamp(std::round(grid.scans_north() ? guess - grid.rows + 1 : guess), 0.0, last);
    for (std::uint32_t row = 0; row < grid.rows; ++row) {
      latitudes[grid.scans_north() ? grid.rows - 1 - row : row] =
          gaussian_latitude(grid.parallels, static_cast<std::uint32_t>(first) + row);
    }
    return latitudes;
  }
  const double step =
      grid.rows > 1 ? (grid.last_latitude - grid.first_latitude) / (grid.rows - 1) : 0;
  for (std::uint32_t row = 0; row < grid.rows; ++row) {
    latitudes[row] = grid.first_latitude + row * step;
  }
  return latitudes;
}

std::vector<double> column_longitudes(const GribGrid& grid) {
  std::vector<double> longitudes(grid.columns);
  const double direction = grid.scans_west() ? -1 : 1;
  // The last longitude is more precise than the step, which is rounded.
  const double extent =
      normalized_longitude(direction * (grid.last_longitude - grid.first_longitude));
  double step = grid.column_step;
  if (grid.columns > 1 && extent > 0) step = extent / (grid.columns - 1);
  for (std::uint32_t column = 0; column < grid.columns; ++column) {
    const double longitude = grid.first_longitude + direction * column * step;
    longitudes[column] = grid.is_rotated ? longitude : normalized_longitude(longitude);
  }
  return longitudes;
}

GeographicPoint unrotated(const GribGrid& grid, GeographicPoint rotated) {
  constexpr double kDegree = std::numbers::pi / 180;
  const double latitude = rotated.latitude * kDegree;
  const double longitude = rotated.longitude * kDegree;
  const double tilt = (90 + grid.pole_latitude) * kDegree;
  // Tilted about the axis through 90° east, then turned about the axis of the earth.
  const double x = std::cos(latitude) * std::cos(longitude);
  const double y = std::cos(latitude) * std::sin(longitude);
  const double z = std::sin(latitude);
  const double tilted_x = std::cos(tilt) * x - std::sin(tilt) * z;
  const double tilted_z = std::sin(tilt) * x + std::cos(tilt) * z;
  return {std::asin(std::clamp(tilted_z, -1.0, 1.0)) / kDegree,
          normalized_longitude(std::atan2(y, tilted_x) / kDegree + grid.pole_longitude)};
}

}  // namespace gdal_zarr
