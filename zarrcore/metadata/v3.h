// Zarr v3: one document `zarr.json` per node (v3 core specification, "metadata").
#pragma once

#include "zarrcore/base/api.h"
#include "zarrcore/metadata/format.h"

namespace zarrcore {

// For Hierarchy::create().
ZARRCORE_API const Format& v3_format();

// The model of one `zarr.json`. `path` is the node's.
NodeMetadata parse_v3_node(const Json& document, const std::string& path);

// The inverse. An undefined fill value is stated as zero, because v3 requires one. Codecs keep
// their names: those of numcodecs are not translated into their counterparts. Throws Error when v3
// cannot express the array.
Json make_v3_array_document(const ArrayMetadata& array);
Json make_v3_group_document(const GroupMetadata& group);

}  // namespace zarrcore
