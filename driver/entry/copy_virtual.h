// Copies to virtual stores (creation option VIRTUAL): metadata are copied, chunks are references to
// the blocks of the source's files.
#pragma once

#include <gdal_priv.h>

#include "driver/gdal/partial_progress.h"
#include "driver/raster/raster_dataset.h"
#include "driver/virtual/raster_blocks.h"

namespace gdal_zarr {

// Throws zarrcore::Error if options ask for a virtual store: only copies have a source, and only
// new stores of references and repositories hold places in it.
void check_is_not_virtual(CSLConstList options);

// The blocks of a raster that become the chunks of its copy. Throws zarrcore::Error, which says
// why, if they cannot: in an Icechunk repository, if their file has no URL. With `copies_others`,
// some may be copied.
RasterBlocks find_blocks(GDALDataset& source, bool is_in_repository, bool copies_others);

// Makes the blocks chunks of the copy, which was created for them, and those of the source's
// overviews levels of a pyramid. Returns false after a CE_Failure; throws zarrcore::Error, also if
// missing chunks would not read as the missing blocks.
bool refer_to_blocks(const RasterBlocks& blocks, GDALDataset& source, RasterDataset& destination,
                     const PartialProgress& progress);

}  // namespace gdal_zarr
