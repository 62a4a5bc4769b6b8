// The messages of a GRIB file that GDAL has opened: each is the chunk of one band.
#pragma once

#include <cpl_conv.h>
#include <gdal_priv.h>

#include <vector>

#include "driver/virtual/raster_blocks.h"
#include "zarrcore/base/buffer.h"

namespace gdal_zarr {

// While it lives, GDAL reads GRIB files in this thread as they are, unless the user says otherwise.
class PlainGrib {
  CPLConfigOptionSetter units_{"GRIB_NORMALIZE_UNITS", "NO", true};
  CPLConfigOptionSetter longitudes_{"GRIB_ADJUST_LONGITUDE_RANGE", "NO", true};
};

bool is_grib(GDALDataset& dataset);

// Throws zarrcore::Error, which says why, when messages cannot be chunks: those with several
// fields, and those whose points do not run from west to east, row after row. All messages are
// decoded for a check, as GDAL may show those of some elements in other units; only the first one
// if `check` is none and the options of GDAL for that are NO.
RasterBlocks find_grib_blocks(GDALDataset& dataset, BlockCheck check);

// The product definition section of the message of each band; empty ones in edition 2. Throws
// zarrcore::Error if messages are not bands.
std::vector<zarrcore::Buffer> read_grib1_products(GDALDataset& dataset);

}  // namespace gdal_zarr
