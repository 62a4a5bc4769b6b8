// The variables that state CRSs for arrays.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "driver/conventions/evidence.h"
#include "zarrcore/base/json.h"

namespace gdal_zarr {

// A variable that CF's attribute `grid_mapping` names, and the coordinates that it is for.
struct GridMapping {
  std::string variable;
  std::vector<std::string> coordinates = {};  // empty for all
};

// "crs", or "crs: x y other: lat lon".
std::vector<GridMapping> grid_mappings(const zarrcore::Json& attributes);

// The name of the grid mapping variable for coordinates named `x` and `y`, else the first one;
// empty without the attribute.
std::string grid_mapping_variable(const zarrcore::Json& attributes, const std::string& x = {},
                                  const std::string& y = {});

// The name in a scope's attributes, for the axes X and Y of an array, if they are known.
std::string grid_mapping_variable(const EvidenceScope& scope, const Evidence& evidence,
                                  const std::optional<RasterAxes>& axes);

// The names in CF's attribute `coordinates`, of the array, else of the nearest of its groups.
std::vector<std::string> coordinate_names(const Evidence& evidence);

// Variables beside the array that may be its grid mapping, whose name was lost, as xarray can lose
// it.
std::vector<EvidenceVariable> lost_grid_mappings(const Evidence& evidence);

// The variable that states the array's CRS: the one named by the attribute `grid_mapping`, else one
// that `coordinates` names, else a grid mapping whose name was lost.
std::optional<EvidenceVariable> find_crs_variable(const Evidence& evidence,
                                                  const std::optional<RasterAxes>& axes);

// Returns true if the attributes belong to such a variable.
bool states_crs(const zarrcore::Json& attributes);
// Returns true if the attributes belong to a grid whose cells are not in a plane; see healpix.h.
bool is_grid_on_the_sphere(const zarrcore::Json& attributes);

}  // namespace gdal_zarr
