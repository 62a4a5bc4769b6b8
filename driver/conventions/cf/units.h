// The units of coordinates, which CF spells as UDUNITS does: "m", "km", "1000 m", "degrees_east".
#pragma once

#include <cstdint>
#include <string>

namespace gdal_zarr::cf {

enum class UnitKind : std::uint8_t { none, length, angle, other };

struct Unit {
  UnitKind kind = UnitKind::none;
  double size = 1;  // in metres or radians
  std::string name = {};
};

// Reads a word ("km"), or a number and a word ("1000 m"). Empty texts, "1" and numbers of cells
// have no unit; other texts are of the kind "other".
Unit read_unit(const std::string& text);

// UDUNITS' spelling of a length in metres.
std::string format_linear_unit(double metres);

}  // namespace gdal_zarr::cf
