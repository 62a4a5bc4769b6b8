// Codecs as a person writes them for a new array, and the complete chain that is stored: what may
// be left out follows from the data type and the chunks, as in TensorStore's driver zarr3.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "zarrcore/codec/codec.h"
#include "zarrcore/metadata/codec_metadata.h"

namespace zarrcore {

// The default array-to-bytes codec for elements of `type`: `bytes` in little-endian order, or the
// codec for strings or bytes of variable length.
CodecMetadata default_array_to_bytes(const DataType& type);

// Reads a list of codecs, or one codec without a list around it. Errors start with `what`.
std::vector<CodecMetadata> parse_codecs_or_one(const Json& value, std::string_view what);

// Completes codecs: adds the array-to-bytes codec, members that have a default, and the codecs of
// inner chunks and of the index of shards, which are completed as well. `spec` describes the
// chunks. Throws Error, which names the codec, when it is not known, has no default for a member
// that it needs, or has a level that its compressor does not know.
std::vector<CodecMetadata> complete_codecs(std::span<const CodecMetadata> codecs,
                                           const ChunkSpec& spec);

}  // namespace zarrcore
