// Copying the groups and arrays of a multidimensional dataset into a new store.
#pragma once

#include "driver/gdal/compat.h"

namespace gdal_zarr {

// Creates a store under `name` with everything in `source`, which has a root group. Options whose
// names begin with "ARRAY:" are for its arrays. Returns null after a CE_Failure, which is also
// reported when the user stops the copy, and leaves nothing behind; when it returns a dataset, the
// copy is in the store.
GDALDataset* copy_hierarchy(const char* name, GDALDataset& source, bool is_strict,
                            OptionList options, GDALProgressFunc progress, void* progress_data);

}  // namespace gdal_zarr
