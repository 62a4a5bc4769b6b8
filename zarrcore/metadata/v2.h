// Zarr v2: `.zarray`, `.zgroup` and `.zattrs` (v2 specification, "metadata"). In the model, the
// memory order F is a transpose codec, the byte order of the dtype is that of the `bytes` codec,
// and filters and the compressor are bytes-to-bytes codecs named `numcodecs.` and their id.
#pragma once

#include "zarrcore/metadata/format.h"

namespace zarrcore {

const Format& v2_format();

// The model of one `.zarray` with the attributes of the `.zattrs` beside it. `path` is the node's.
ArrayMetadata parse_v2_array(const Json& array, const Json& attributes, const std::string& path);

}  // namespace zarrcore
