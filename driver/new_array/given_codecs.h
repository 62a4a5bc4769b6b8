// The codecs of a new array as the option CODECS gives them, in JSON.
#pragma once

#include <vector>

#include "driver/new_array/chunk_layout.h"
#include "zarrcore/metadata/codec_metadata.h"
#include "zarrcore/metadata/format.h"

namespace gdal_zarr {

class CreationOptions;

// For v3, CODECS is the member `codecs` of zarr.json, for v2 an object with the members `filters`
// and `compressor` of .zarray, which may be null or missing. Throws zarrcore::Error on anything
// else, on codecs that are not known, and when options are given that also determine codecs.
std::vector<zarrcore::CodecMetadata> given_codecs(const zarrcore::DataType& type,
                                                  const zarrcore::Format& format,
                                                  const CreationOptions& options);

// Makes default chunks, without the option BLOCKSIZE, a multiple of the inner chunks that the
// codecs state.
void fit_to_shards(zarrcore::Shape& chunk_shape, const std::vector<zarrcore::CodecMetadata>& codecs,
                   const CreationOptions& options);

}  // namespace gdal_zarr
