// Zarr v2: `.zarray`, `.zgroup` and `.zattrs` (v2 specification, "metadata").
#pragma once

#include "zarrcore/metadata/format.h"

namespace zarrcore {

const Format& v2_format();

// The model of one `.zarray` with the attributes of the `.zattrs` beside it. `path` is the node's.
ArrayMetadata parse_v2_array(const Json& array, const Json& attributes, const std::string& path);

}  // namespace zarrcore
