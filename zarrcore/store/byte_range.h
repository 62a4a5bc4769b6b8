// Size checks that every store makes before it allocates memory.
#pragma once

#include "zarrcore/base/api.h"
#include "zarrcore/store/store.h"

namespace zarrcore {

// Throws Error when a value of `size` bytes is larger than the caller allows.
ZARRCORE_API void check_value_size(std::uint64_t size, std::uint64_t max_size);

// The offset of `range` in a value of `size` bytes. Throws Error when the range is outside, or
// expects another size.
ZARRCORE_API std::uint64_t resolve_range(const ByteRange& range, std::uint64_t size);

}  // namespace zarrcore
