// Zarr v3: one document `zarr.json` per node (v3 core specification, "metadata").
#pragma once

#include "zarrcore/metadata/format.h"

namespace zarrcore {

const Format& v3_format();

// The data type that `value` names: a core name, or an extension object (zarr-extensions).
DataType parse_v3_data_type(const Json& value);

// The inverse, with an object where there is something to configure. Throws Error on structures
// that v3 does not have: with subarrays, or fields of one name.
Json make_v3_data_type(const DataType& type);

// The model of one `zarr.json`. `path` is the node's.
NodeMetadata parse_v3_node(const Json& document, const std::string& path);

// The inverse (v3_document.cpp). A fill value that is undefined is stated as zero, for v3 wants
// one. Codecs keep their names: those of numcodecs are not translated into their counterparts.
// Throws Error when v3 cannot express the array.
Json make_v3_array_document(const ArrayMetadata& array);
Json make_v3_group_document(const GroupMetadata& group);

}  // namespace zarrcore
