#include "driver/conventions/crs_import.h"

#include <cpl_error.h>

namespace gdal_zarr {

std::shared_ptr<OGRSpatialReference> import_crs(const std::string& text) {
  auto crs = std::make_shared<OGRSpatialReference>();
  CPLPushErrorHandler(CPLQuietErrorHandler);
  const OGRErr result = crs->SetFromUserInput(
      text.c_str(), OGRSpatialReference::SET_FROM_USER_INPUT_LIMITATIONS_get());
  CPLPopErrorHandler();
  CPLErrorReset();
  return result == OGRERR_NONE ? crs : nullptr;
}

std::shared_ptr<OGRSpatialReference> import_crs(const zarrcore::Json& value) {
  if (value.is_string()) return import_crs(value.get_ref<const std::string&>());
  return value.is_object() ? import_crs(zarrcore::dump_json(value)) : nullptr;
}

}  // namespace gdal_zarr
