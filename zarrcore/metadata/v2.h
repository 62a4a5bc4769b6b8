// Zarr v2: `.zarray`, `.zgroup` and `.zattrs` (v2 specification, "metadata").
#pragma once

#include "zarrcore/base/api.h"
#include "zarrcore/metadata/format.h"

namespace zarrcore {

// For Hierarchy::create().
ZARRCORE_API const Format& v2_format();

// The model of a `.zarray` and the attributes of its `.zattrs`. `path` is the node's.
ArrayMetadata parse_v2_array(const Json& array, const Json& attributes, const std::string& path);

// The inverse: a `.zarray`, and the attributes of a `.zattrs`. Throws Error when v2 cannot express
// the array: a rectilinear grid, a codec that numcodecs does not have…
Json make_v2_array_document(const ArrayMetadata& array);
Json make_v2_attributes(const ArrayMetadata& array);

// A `.zgroup`; its attributes are a `.zattrs` as they are.
Json make_v2_group_document(const GroupMetadata& group);

}  // namespace zarrcore
