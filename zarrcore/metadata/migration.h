// Converts Zarr v1 and v2 to v3 without changing a chunk: makes the metadata that lets v3 readers
// decode the chunks that v2 writers have stored.
#pragma once

#include "zarrcore/base/api.h"
#include "zarrcore/metadata/array_metadata.h"

namespace zarrcore {

// The same array with the names and the order of codecs that v3 has, for Format::array_documents()
// of v3_format(). The key encoding stays. An undefined fill value becomes zero, as its elements are
// read. Throws an Error that names anything v3 has no name for.
ZARRCORE_API ArrayMetadata migrated_to_v3(ArrayMetadata array);

}  // namespace zarrcore
