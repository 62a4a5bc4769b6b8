// Copies to virtual stores (creation option VIRTUAL): metadata are copied, chunks are references to
// the blocks of the source's files.
#pragma once

#include <gdal_priv.h>

#include <optional>

#include "driver/gdal/partial_progress.h"
#include "driver/new_array/creation_options.h"
#include "driver/raster/raster_dataset.h"
#include "driver/virtual/raster_blocks.h"

namespace gdal_zarr {

// Throws zarrcore::Error if options ask for a virtual store: only copies have a source.
void check_is_not_virtual(CSLConstList options);

// The blocks of a raster that become the chunks of its copy. Empty if the options do not request
// that, and with VIRTUAL=AUTO if it is impossible. Otherwise throws zarrcore::Error with the
// reason.
std::optional<RasterBlocks> find_blocks(GDALDataset& source, const CreationOptions& options);

// Makes the blocks chunks of the copy, which was created for them, and the blocks of the source's
// overviews levels of a pyramid. Returns false after a CE_Failure; throws zarrcore::Error.
bool refer_to_blocks(const RasterBlocks& blocks, GDALDataset& source, RasterDataset& destination,
                     const PartialProgress& progress);

}  // namespace gdal_zarr
