// Ground control points, as rioxarray writes them into a grid mapping variable: a GeoJSON
// collection of points as text, whose properties say the place in the raster.
//
//   "gcps": "{\"type\": \"FeatureCollection\", \"features\": [{\"properties\": {\"id\": \"1\",
//            \"info\": \"\", \"row\": 0.0, \"col\": 10.5}, \"geometry\": {\"type\": \"Point\",
//            \"coordinates\": [11.5, 48.1, 500.0]}, \"type\": \"Feature\"}]}"
#pragma once

#include <span>
#include <string>
#include <vector>

#include "zarrcore/base/json.h"

namespace gdal_zarr {

// In pixels and lines from the upper left corner, and in the units of a CRS.
struct GroundControlPoint {
  std::string id = {};
  std::string info = {};
  double pixel = 0;
  double line = 0;
  double x = 0;
  double y = 0;
  double z = 0;

  bool operator==(const GroundControlPoint&) const = default;
};

// Empty if the attributes have none, or, after a warning, if they are not such a text. `name` is
// that of the variable, for the message.
std::vector<GroundControlPoint> parse_gcps(const zarrcore::Json& attributes,
                                           const std::string& name);

// The text of such an attribute.
std::string format_gcps(std::span<const GroundControlPoint> points);

}  // namespace gdal_zarr
