#include "driver/conventions/shown_attributes.h"

#include "driver/conventions/gdal_crs.h"
#include "driver/conventions/nczarr.h"

namespace gdal_zarr {

// GDAL's multidimensional API has no other place for it.
constexpr const char* kRegistration = "spatial:registration";

zarrcore::Json shown_attributes(const zarrcore::Json& attributes) {
  zarrcore::Json shown = zarrcore::Json::object();
  const zarrcore::Json all = without_nczarr(attributes);
  const bool has_copy_of_crs = crs_repeats_gdals(all);
  for (const auto& [name, value] : all.items()) {
    const bool is_expressed_by_gdal = name == "_CRS" || (name == "crs" && has_copy_of_crs) ||
                                      name == "zarr_conventions" || name == "multiscales" ||
                                      name == "gdal:geotransform" || name == kCoordinateEpoch ||
                                      name == kPlainMetadata || name.starts_with("proj:") ||
                                      (name.starts_with("spatial:") && name != kRegistration);
    if (!is_expressed_by_gdal) shown[name] = value;
  }
  return shown;
}

}  // namespace gdal_zarr
