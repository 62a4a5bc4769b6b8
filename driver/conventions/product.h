// Statements of a product's metadata about its arrays: their CRS, and their spectral bands.
#pragma once

#include <ogr_spatialref.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "zarrcore/base/json.h"

namespace gdal_zarr {

// Sentinel products in ESA's EOPF layout (https://zarr.eopf.copernicus.eu) state
// their CRS once, in the attributes of the root or in the name of the store.
//
//   "stac_discovery": {"properties": {"proj:epsg": 32633, "s2:mgrs_tile": "T33UWP"}}
//   "other_metadata": {"horizontal_CRS_code": "EPSG:32633"}
//   S2B_MSIL2A_20240830T105619_N0511_R094_T33UWP_20240830T134814.zarr

// Returns true if the array was written by EOPF's software: it has the attribute `_eopf_attrs`.
bool is_eopf_array(const zarrcore::Json& attributes);

// The CRS of an array of a product. `root_attributes` has, in this order: `proj:epsg` in
// `stac_discovery.properties`; `proj:epsg` or `epsg` in the root, or in any object there;
// `stac_discovery.geometry.crs.properties.code`; then comes the tile in `store_name`; the tile in
// `s2:mgrs_tile`, `mgrs_tile` or `tile_id` of the STAC properties; WKT in `spatial_ref`. Values
// that are not understood are skipped; null, after a warning that names the first of them, if no
// other is understood.
std::shared_ptr<OGRSpatialReference> crs_from_eopf(const zarrcore::Json& root_attributes,
                                                   const std::string& store_name);

// For arrays of which it is not known whether EOPF's software has written them: only attributes
// that no other convention has, namely `stac_discovery.properties` with `proj:code` or `proj:epsg`,
// else `other_metadata` with `horizontal_CRS_code` or `reference_CRS`. Null if they state no CRS
// that is understood.
std::shared_ptr<OGRSpatialReference> crs_from_product(const zarrcore::Json& root_attributes);

// The EPSG code of the UTM zone of a tile of the Military Grid Reference System, with or without T
// ("T32VLK"); 0 if `tile` is not such a name.
int utm_of_tile(std::string_view tile);

// The group with the ground control points of a Sentinel-1 product, beside `measurements`.
inline constexpr const char* kGcpGroup = "conditions/gcp";
bool is_gcp_group(std::string_view path);

// Products' descriptions of spectral bands, which are arrays of the same names: STAC's `eo:bands`
// (extension eo 1.1) or `bands` (STAC 1.1) among the properties of a product (EOPF:
// `stac_discovery` at its root), or in the attributes of a group.
//
//   {"name": "b04", "common_name": "red", "center_wavelength": 0.665, "full_width_half_max": 0.038}

struct SpectralBand {
  std::string name;                          // in lower case
  std::string common_name = {};              // STAC's, such as "red"; empty if unknown
  std::optional<double> wavelength_um = {};  // of its centre
  std::optional<double> full_width_um = {};  // at half of the maximum
};

// In the order of the lists; the group's bands first.
std::vector<SpectralBand> find_spectral_bands(const zarrcore::Json& group,
                                              const zarrcore::Json& root);

}  // namespace gdal_zarr
