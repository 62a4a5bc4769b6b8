// The units of projection coordinates, which CF spells as UDUNITS does: "m", "km", "1000 m".
#pragma once

#include <optional>
#include <string>

namespace gdal_zarr::cf {

struct LinearUnit {
  std::string name;
  double metres;
};

// Reads a word ("km"), or a number and a word ("1000 m"); an empty text means metres. Coordinates
// of a geostationary grid may be angles ("rad"): with `satellite_height`, in metres, such a unit is
// the length of that angle at this height. Throws zarrcore::Error on any other text.
LinearUnit read_linear_unit(const std::string& text, std::optional<double> satellite_height);

// UDUNITS' spelling of a length in metres.
std::string format_linear_unit(double metres);

}  // namespace gdal_zarr::cf
