// What several formats have in their documents, and the documents of v3, which Icechunk has as
// well.
#pragma once

#include <string>
#include <string_view>

#include "zarrcore/base/json.h"
#include "zarrcore/base/strided.h"
#include "zarrcore/dtype/data_type.h"
#include "zarrcore/metadata/array_metadata.h"

namespace zarrcore {

// Throws Error unless the member `zarr_format` is the integer `version`.
void check_zarr_format(const Json& document, int version);

// A list of lengths, of an array or its chunks. Accepts, as zarr-python and GDAL's built-in driver
// do, other values that those have written: `true` for 1, 4.0 for 4. Errors begin with `what`.
Shape parse_lengths(Json lengths, std::string_view what);

// The member `key`, a shape. Throws Error when it has more dimensions than any array needs, to
// bound recursion and tables over them.
Shape parse_shape(const Json& document, std::string_view key = "shape");

// Zarr v3: one document `zarr.json` per node (v3 core specification, "metadata").

// The model of one `zarr.json`. `path` is the node's.
NodeMetadata parse_v3_node(const Json& document, const std::string& path);

// The inverse of parsing. An undefined fill value is stated as zero, because v3 requires one.
// Codecs keep their names: numcodecs' codecs are not translated into their v3 counterparts. Throws
// Error when v3 cannot express the array.
Json make_v3_array_document(const ArrayMetadata& array);
Json make_v3_group_document(const GroupMetadata& group);

// The data type that `value` names. Throws Error when it is not supported.
DataType parse_v3_data_type(const Json& value);

// The inverse, with an object where there is something to configure. Throws Error on structures
// that v3 does not have: with subarrays, or with several fields of one name.
Json make_v3_data_type(const DataType& type);

// Returns true if a `zarr.json` is an entry point of the draft of 2020, in which `zarr_format` is a
// URI, not a number.
bool is_draft_entry_point(const Json& document);

// Returns true if an `attributes.json` belongs to the root of an N5 container or to an array: other
// programs use the name as well.
ZARRCORE_API bool is_n5_document(const Json& document);

}  // namespace zarrcore
