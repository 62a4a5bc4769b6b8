// Merging a change of a document into its current state: other programs may have changed it since
// it was read.
#pragma once

#include "zarrcore/metadata/format.h"

namespace zarrcore {

// Applies the difference between `base` and `changed`, two states of a document, to `current`. Each
// member of the document, and each of its attributes, changes as a whole or not at all.
Json merge_document(const Json& base, const Json& changed, Json current);

}  // namespace zarrcore
