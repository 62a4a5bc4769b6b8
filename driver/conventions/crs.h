// Finding the CRS of an array: the `proj:` convention on the array or a group that it belongs to,
// else the attribute `_CRS` (GDAL's own: `url`, else `wkt`, else `projjson`), else CF's
// `grid_mapping`, else what EOPF states at the root.
#pragma once

#include <ogr_spatialref.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "zarrcore/base/json.h"

namespace gdal_zarr {

// The attributes of the variable `name`, searched from the array's group upwards; null when there
// is none.
using FindVariable = std::function<std::shared_ptr<const zarrcore::Json>(const std::string& name)>;

// The variable that the attribute `grid_mapping` names; empty when there is no such attribute.
std::string grid_mapping_variable(const zarrcore::Json& attributes);

// What an array's CRS is made of.
struct CrsSources {
  const zarrcore::Json& array;  // attributes of the array
  // Attributes of the groups whose `proj:` covers the array, the nearest first.
  std::vector<std::shared_ptr<const zarrcore::Json>> groups;
  std::shared_ptr<const zarrcore::Json> root;  // null for arrays whose EOPF's CRS does not count
  FindVariable find_variable;
  std::string linear_unit;  // of the projected coordinates
};

// Null when there is no CRS. When there is one that cannot be understood, warns and looks further.
// The axis mapping is not set.
std::shared_ptr<OGRSpatialReference> find_crs(const CrsSources& sources);

// Sets the data axis mapping of `crs`: its easting or longitude is data axis `x`, its northing or
// latitude `y`, both counted from 1.
void set_axis_mapping(OGRSpatialReference& crs, int x, int y);

}  // namespace gdal_zarr
