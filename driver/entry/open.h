// Opening: from a connection string to a dataset.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "driver/gdal/compat.h"

namespace gdal_zarr {

class Array;

// GDAL's entry point; see GDALDriver::pfnOpen.
GDALDataset* open(GDALOpenInfo* info);

// The classic dataset of an array; a ClassicDatasetFactory (multidim/session.h).
GDALDataset* make_classic_dataset(const std::shared_ptr<Array>& array, std::size_t x,
                                  std::optional<std::size_t> y);

}  // namespace gdal_zarr
