// Zarr v1: one array per store, in the documents `meta` and `attrs` (v1 specification).
#pragma once

#include "zarrcore/metadata/format.h"

namespace zarrcore {

const Format& v1_format();

// The model of a `meta` document with the attributes of `attrs`.
ArrayMetadata parse_v1_array(const Json& document, const Json& attributes);

// The inverse: a `meta` document, for existing arrays only. Throws Error when v1 cannot express the
// array.
Json make_v1_array_document(const ArrayMetadata& array);

}  // namespace zarrcore
