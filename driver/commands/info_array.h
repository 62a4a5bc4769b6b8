// What the command info says of one array.
#pragma once

#include <string>

#include "driver/multidim/session.h"
#include "zarrcore/check/store_check.h"

namespace gdal_zarr {

// Members for the document of the result. Coordinates are read, to find where the array lies.
zarrcore::Json describe_array(Session& session, const zarrcore::ExaminedArray& examined);

// The same in lines for people, the first of which begins with `name`.
std::string array_text(const zarrcore::Json& array, const std::string& name,
                       const std::string& indentation);

}  // namespace gdal_zarr
