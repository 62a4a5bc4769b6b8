// Copies of arrays of Zarr stores that preserve what GDAL's API does not express: the stored type,
// the fill value, chunks, shards and codecs, and attributes with the types and spellings they have.
//
// GDAL's CopyFrom() creates the new array first, as GDAL's types and block sizes say, and fills it
// then. So Array::CopyFrom() replaces the layout of the array, of which no element is written yet.
#pragma once

#include <gdal_priv.h>

#include "driver/multidim/array.h"

namespace gdal_zarr {

// Called by each read of GDAL: it shows which array another driver's array reads.
void note_read(const Array& array, const zarrcore::Selection& selection);

// The blocks of `source` that become the chunks of its copy in a virtual store; nullopt if the
// elements are copied: of small arrays without blocks, or of all if the session says so. Throws
// zarrcore::Error, which says why there are none.
std::optional<ArrayBlocks> find_blocks_for_copy(const GDALMDArray& source, const Session& session);

// Copies all elements between arrays of one shape. Reads each chunk of the source once, or nearly
// so, and writes each chunk or shard of the target once. At most ZARR_COPY_MEMORY bytes of values,
// by default half of GDAL's block cache, are in memory at a time. If that is too little, values are
// stored in a temporary file between reading and writing. The next part is read while the previous
// one is written. `progress` gets 0 to 1. Returns false after a CE_Failure, also when `progress`
// stops it; throws zarrcore::Error.
bool copy_values(const GDALMDArray& source, Array& target, GDALProgressFunc progress, void* data);

}  // namespace gdal_zarr
