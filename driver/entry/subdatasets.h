// Lists of subdatasets.
#pragma once

#include <cpl_string.h>
#include <gdal_priv.h>

#include <string>
#include <vector>

#include "driver/multidim/raster_view.h"
#include "driver/raster/candidates.h"

namespace gdal_zarr {

// A subdataset for each array. `name` is the name that was opened. The caller owns the dataset.
GDALDataset* list_arrays(const Session& session, const std::vector<Candidate>& candidates,
                         const std::string& name);

// The items of the metadata domain SUBDATASETS for these arrays.
CPLStringList subdataset_items(const Session& session, const std::vector<Candidate>& candidates);

// A subdataset for each 2D slice of the array of a view, whose other dimensions make bands.
GDALDataset* list_slices(const RasterView& view, const std::string& name);

}  // namespace gdal_zarr
