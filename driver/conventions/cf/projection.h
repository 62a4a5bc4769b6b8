// The attributes of a CF grid mapping that state its projection (CF conventions, appendix F,
// https://cfconventions.org/cf-conventions/cf-conventions.html#appendix-grid-mappings), read and
// written by the table of projection_table.h.
//
//   grid_mapping_name = "lambert_conformal_conic"   standard_parallel = 25.0
//   longitude_of_central_meridian = 265.0           latitude_of_projection_origin = 25.0
#pragma once

#include <ogr_spatialref.h>

#include <string>

#include "driver/conventions/cf/projection_table.h"
#include "zarrcore/base/json.h"

namespace gdal_zarr::cf {

// Whether the table has this `grid_mapping_name`, spelled in any way.
bool is_projection(const std::string& grid_mapping);

// The projected CRS of `attributes`, which name a projection of the table, on `geographic`. Its
// unit is that of `linear_unit`; see units.h. Throws zarrcore::Error on parameters that are missing
// or of the wrong kind.
OGRSpatialReference read_projection(const zarrcore::Json& attributes,
                                    const OGRSpatialReference& geographic,
                                    const std::string& linear_unit);

// The row for the method of a projected CRS, as PROJJSON; null when CF has no such projection.
const Projection* find_projection(const zarrcore::Json& projjson);

// Sets the parameters of a CRS of this projection, as PROJJSON; distances in units of `metres`.
// Parameters that the table does not have are left out.
void write_parameters(zarrcore::Json& attributes, const Projection& projection,
                      const zarrcore::Json& projjson, double metres);

}  // namespace gdal_zarr::cf
