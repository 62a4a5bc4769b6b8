// Datasets that only list subdatasets.
#pragma once

#include <gdal_priv.h>

#include <string>
#include <vector>

#include "driver/multidim/raster_view.h"
#include "driver/raster/candidates.h"

namespace gdal_zarr {

// A subdataset for each array. `name` is the name that was opened. The caller owns the dataset.
GDALDataset* list_arrays(const Session& session, const std::vector<Candidate>& candidates,
                         const std::string& name);

// A subdataset for each 2D slice of the array of a view, whose other dimensions make bands.
GDALDataset* list_slices(const RasterView& view, const std::string& name);

}  // namespace gdal_zarr
