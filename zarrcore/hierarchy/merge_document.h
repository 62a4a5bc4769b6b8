// A change of a node as a change of its documents: others may have changed the same documents since
// they were read.
#pragma once

#include "zarrcore/metadata/format.h"

namespace zarrcore {

// `current` with what differs between `base` and `changed`, two states of a document: each of its
// members, and each of its attributes, is one thing that changes or stays as it is.
Json merge_document(const Json& base, const Json& changed, Json current);

}  // namespace zarrcore
