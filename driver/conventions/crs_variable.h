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

// The one of these for coordinates of these names, else the first; empty without the attribute.
std::string grid_mapping_variable(const zarrcore::Json& attributes, const std::string& x = {},
                                  const std::string& y = {});

// That of a scope for the axes X and Y of an array, if they are known.
std::string grid_mapping_variable(const EvidenceScope& scope, const Evidence& evidence,
                                  const std::optional<RasterAxes>& axes);

// The names in CF's attribute `coordinates`, of the array, else of the nearest of its groups.
std::vector<std::string> coordinate_names(const Evidence& evidence);

// Variables beside the array that may be its grid mapping, whose name was lost, as xarray can lose
// it.
std::vector<EvidenceVariable> lost_grid_mappings(const Evidence& evidence);

// The variable that states the array's CRS: that of the attribute `grid_mapping`, else one that
// `coordinates` names, else a grid mapping whose name was lost.
std::optional<EvidenceVariable> find_crs_variable(const Evidence& evidence,
                                                  const std::optional<RasterAxes>& axes);

// Returns true if attributes are those of such a variable.
bool states_crs(const zarrcore::Json& attributes);
// Returns true if they are those of a grid whose cells are on no plane; see healpix.h.
bool is_grid_on_the_sphere(const zarrcore::Json& attributes);

}  // namespace gdal_zarr
