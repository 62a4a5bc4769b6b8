// The codecs of a new array, by the options COMPRESS, FILTER, KEEPBITS, CHECKSUM, those of each
// compressor, and CHUNK_MEMORY_LAYOUT; and the sharding of its layout.
#pragma once

#include <vector>

#include "driver/new_array/chunk_layout.h"
#include "zarrcore/metadata/format.h"

namespace gdal_zarr {

// For elements of `type`. Throws zarrcore::Error on options that contradict each other or do not
// fit the type, and on chunks too large for their compressor.
std::vector<zarrcore::CodecMetadata> make_new_codecs(const zarrcore::DataType& type,
                                                     const ChunkLayout& layout,
                                                     const zarrcore::NewArrayRules& rules,
                                                     const CreationOptions& options);

}  // namespace gdal_zarr
