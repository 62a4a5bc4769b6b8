// Zarr v3: one document `zarr.json` per node (v3 core specification, "metadata").
#pragma once

#include "zarrcore/metadata/format.h"

namespace zarrcore {

const Format& v3_format();

// The data type that `value` names: a core name, or an extension object (zarr-extensions).
DataType parse_v3_data_type(const Json& value);

// The model of one `zarr.json`. `path` is the node's.
NodeMetadata parse_v3_node(const Json& document, const std::string& path);

}  // namespace zarrcore
