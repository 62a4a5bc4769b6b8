// What products say of spectral bands, which are arrays of their names: STAC's `eo:bands`
// (extension eo 1.1) or `bands` (STAC 1.1) among the properties of a product (EOPF:
// `stac_discovery` at its root), or in the attributes of a group.
//
//   {"name": "b04", "common_name": "red", "center_wavelength": 0.665, "full_width_half_max": 0.038}
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "zarrcore/base/json.h"

namespace gdal_zarr {

struct SpectralBand {
  std::string name;                          // in lower case
  std::string common_name = {};              // STAC's, such as "red"; empty if unknown
  std::optional<double> wavelength_um = {};  // of its centre
  std::optional<double> full_width_um = {};  // at half of the maximum
};

// In the order of the lists; those of the group first.
std::vector<SpectralBand> find_spectral_bands(const zarrcore::Json& group,
                                              const zarrcore::Json& root);

}  // namespace gdal_zarr
