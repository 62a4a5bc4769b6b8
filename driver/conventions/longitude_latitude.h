// Which variables hold longitudes and latitudes.
#pragma once

#include "driver/conventions/evidence.h"

namespace gdal_zarr {

// How surely a variable holds what `word` says, "longitude" or "latitude": 2 by its standard name
// or unit, 1 by its own name, 0 if it does not.
int certainty_of(const EvidenceVariable& variable, const char* word);

}  // namespace gdal_zarr
