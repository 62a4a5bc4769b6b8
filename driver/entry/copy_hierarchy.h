// Filling a new store with the groups and arrays of a dataset of the multidimensional API.
#pragma once

#include "driver/gdal/compat.h"

namespace gdal_zarr {

// Makes a store under `name` with all that `source`, which has a root group, holds. Options whose
// names begin with "ARRAY:" are for its arrays. Returns null after a CE_Failure, the user's own
// stop included, and leaves nothing then; when it returns a dataset, all is in the store.
GDALDataset* copy_hierarchy(const char* name, GDALDataset& source, bool is_strict,
                            OptionList options, GDALProgressFunc progress, void* progress_data);

}  // namespace gdal_zarr
