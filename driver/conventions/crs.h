// Finds the CRS of an array: by the `proj:` convention, of the array or of a group that it belongs
// to; else by GDAL's own attribute `_CRS`; else by CF's `grid_mapping` (CF conventions,
// section 5.6); else by EOPF's attributes of the root.
//
//   "_CRS": {"url": "http://www.opengis.net/def/crs/EPSG/0/4326", "wkt": "…", "projjson": {…}}
//   "grid_mapping": "crs"
#pragma once

#include <ogr_spatialref.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "zarrcore/base/json.h"

namespace gdal_zarr {

// The attributes of the variable `name` in the array's group, else in the nearest group above; null
// if there is none.
using FindVariable = std::function<std::shared_ptr<const zarrcore::Json>(const std::string& name)>;

// The variable that the attribute `grid_mapping` names; empty without the attribute.
std::string grid_mapping_variable(const zarrcore::Json& attributes);

// The attributes that may state an array's CRS.
struct CrsSources {
  const zarrcore::Json& array;  // attributes of the array
  // Attributes of the groups whose `proj:` covers the array, the nearest first.
  std::vector<std::shared_ptr<const zarrcore::Json>> groups;
  std::shared_ptr<const zarrcore::Json> root;  // null for arrays to which EOPF's CRS does not apply
  FindVariable find_variable;
  std::string linear_unit;      // of the projected coordinates
  std::string store_name = {};  // the last part of the store's path
};

// Null if there is no CRS. Warns of one that it does not understand, and continues with the next
// source; and of `_CRS` and a grid mapping with another CRS. Does not set the axis mapping.
std::shared_ptr<OGRSpatialReference> find_crs(const CrsSources& sources);

// Sets the data axis mapping of `crs`: its easting or longitude is data axis `x`, its northing or
// latitude `y`, both counted from 1.
void set_axis_mapping(OGRSpatialReference& crs, int x, int y);

}  // namespace gdal_zarr
