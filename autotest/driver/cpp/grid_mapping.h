// Reading CF grid mappings, and where their CRSs put positions.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>

#include "driver/conventions/cf/grid_mapping.h"
#include "zarrcore/base/json.h"

namespace gdal_zarr::test {

using zarrcore::Json;

struct Result {
  std::shared_ptr<OGRSpatialReference> crs;
  std::string problem;
};

inline Result read(const Json& attributes, const std::string& linear_unit = "") {
  Result result;
  result.crs = crs_from_grid_mapping(attributes, linear_unit, &result.problem);
  return result;
}

// The CRS of attributes that must describe one.
inline OGRSpatialReference crs_of(const Json& attributes, const std::string& linear_unit = "") {
  const Result result = read(attributes, linear_unit);
  if (result.crs) return *result.crs;
  ADD_FAILURE() << attributes.dump() << ": " << result.problem;
  return OGRSpatialReference();
}

struct Position {
  double x;
  double y;
};

inline Position transform(OGRSpatialReference from, OGRSpatialReference to, Position position) {
  from.SetAxisMappingStrategy(OAMS_TRADITIONAL_GIS_ORDER);
  to.SetAxisMappingStrategy(OAMS_TRADITIONAL_GIS_ORDER);
  const std::unique_ptr<OGRCoordinateTransformation> transformation(
      OGRCreateCoordinateTransformation(&from, &to));
  if (!transformation || !transformation->Transform(1, &position.x, &position.y)) {
    return {NAN, NAN};
  }
  return position;
}

inline OGRSpatialReference from_proj(const std::string& text) {
  OGRSpatialReference crs;
  EXPECT_EQ(crs.importFromProj4(text.c_str()), OGRERR_NONE) << text;
  return crs;
}

}  // namespace gdal_zarr::test
