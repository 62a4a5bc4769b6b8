// Copies of arrays of Zarr stores that preserve what GDAL's API does not express: the stored type,
// the fill value, chunks, shards and codecs, and attributes with the types and spellings they have.
//
// GDAL's CopyFrom() creates the new array first, as GDAL's types and block sizes say, and fills it
// then. So Array::CopyFrom() replaces the layout of the array, of which no element is written yet.
#pragma once

#include <gdal_priv.h>

#include <cstdint>
#include <functional>
#include <string>

#include "driver/multidim/array.h"

namespace gdal_zarr {

// Called by each read of GDAL: it shows which array another driver's array reads.
void note_read(const Array& array, const zarrcore::Selection& selection);

// The blocks of `source` that become the chunks of its copy in a virtual store; nullopt if the
// elements are copied: of small arrays without blocks, or of all if the session says so. Throws
// zarrcore::Error, which says why there are none.
std::optional<ArrayBlocks> find_blocks_for_copy(const GDALMDArray& source, const Session& session);

// How far a copy has come, so that another process can continue it: the first parts of it are
// stored, in the order in which they are copied.
struct CopyRecord {
  std::string plan;  // what the parts are
  std::uint64_t complete = 0;
  std::function<void()> save;  // called when a member has changed
};

// Copies all elements between arrays of one shape. Reads each chunk of the source once, or nearly
// so, and writes each chunk or shard of the target once. At most ZARR_COPY_MEMORY bytes of values,
// by default half of GDAL's block cache, are in memory at a time. If that is too little, values are
// stored in a temporary file between reading and writing. The next part is read while the previous
// one is written. `progress` gets 0 to 1. Returns false after a CE_Failure, also when `progress`
// stops it; throws zarrcore::Error. With `is_new`, nothing is stored in the target but the parts
// that the record counts: what the source does not store is then not copied.
bool copy_values(const GDALMDArray& source, Array& target, bool is_new, GDALProgressFunc progress,
                 void* data, CopyRecord* record = nullptr);

}  // namespace gdal_zarr
