// Creating stores by the multidimensional API: an empty one, or a copy.
#pragma once

#include "driver/gdal/compat.h"

namespace gdal_zarr {

// GDAL's entry point; see GDALDriver::pfnCreateMultiDimensional. A failure is reported and leaves
// nothing behind.
GDALDataset* create_multidimensional(const char* name, CSLConstList group_options,
                                     CSLConstList options);

// Creates a store under `name` with everything in `source`, which has a root group. Options whose
// names begin with "ARRAY:" are for its arrays. Returns null after a CE_Failure, which is also
// reported when the user stops the copy, and leaves nothing behind; when it returns a dataset, the
// copy is in the store.
GDALDataset* copy_hierarchy(const char* name, GDALDataset& source, bool is_strict,
                            OptionList options, GDALProgressFunc progress, void* progress_data);

}  // namespace gdal_zarr
