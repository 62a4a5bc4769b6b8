// Data types as v3 names them: core names, and extension objects (zarr-extensions).
#pragma once

#include "zarrcore/base/json.h"
#include "zarrcore/dtype/data_type.h"

namespace zarrcore {

// The data type that `value` names. Throws Error when it is not supported.
DataType parse_v3_data_type(const Json& value);

// The inverse, with an object where there is something to configure. Throws Error on structures
// that v3 does not have: with subarrays, or with several fields of one name.
Json make_v3_data_type(const DataType& type);

}  // namespace zarrcore
