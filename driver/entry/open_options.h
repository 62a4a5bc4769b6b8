// The open options, as GDAL lists them.
#pragma once

#include <string>

namespace gdal_zarr {

// The XML of GDAL_DMD_OPENOPTIONLIST.
std::string open_option_list();

}  // namespace gdal_zarr
