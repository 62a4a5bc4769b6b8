// How an array is stored, in GDAL's terms: what GetStructuralInfo() and GetRawBlockInfo() list.
// Codecs are JSON, spaced as GDAL's own.
//
//   COMPRESSOR      the compressor of `.zarray` in v2, else the last codec after `bytes`
//   FILTERS         the list of filters of `.zarray` in v2, else of the codecs between the two
//   data_type.name  of a data type with a configuration; data_type.unit… its members
#pragma once

#include <cpl_string.h>

#include <string>

#include "zarrcore/metadata/array_metadata.h"
#include "zarrcore/metadata/format.h"

namespace gdal_zarr {

// Also has CODECS, the whole chain as in v3.
CPLStringList structural_info(const zarrcore::Format& format, const zarrcore::ArrayMetadata& array,
                              const std::string& node_path);

// The information needed to decode the bytes of one block: of an inner chunk if the array is
// sharded. Also has ENDIANNESS=LITTLE or BIG for types of more than one byte, TRANSPOSE_ORDER=[1,0]
// if dimensions are stored in another order, CHUNK_TYPE=INNER for an inner chunk, and CODECS where
// all that does not describe the whole chain.
CPLStringList block_info(const zarrcore::Format& format, const zarrcore::ArrayMetadata& array,
                         const std::string& node_path);

// The value of the creation option COMPRESS ("ZSTD", "GZIP"…), for IMAGE_STRUCTURE: programs create
// copies with it. Empty unless exactly one codec follows `bytes`, in the innermost chunks.
std::string compression_name(const zarrcore::ArrayMetadata& array);

}  // namespace gdal_zarr
