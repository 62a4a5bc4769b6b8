// The ids of Icechunk's objects: 12 bytes (snapshots, manifests, chunks) or 8 (nodes). As file
// names they are text: base 32 with Crockford's alphabet, from the most significant bit on.
#pragma once

#include <string>
#include <string_view>

#include "zarrcore/base/buffer.h"

namespace zarrcore::icechunk {

inline constexpr std::size_t kObjectIdSize = 12;
inline constexpr std::size_t kNodeIdSize = 8;

std::string id_text(ByteSpan id);

// Whether `text` is the text of an id of 12 bytes: it may be part of a path.
bool is_object_id(std::string_view text);

}  // namespace zarrcore::icechunk
