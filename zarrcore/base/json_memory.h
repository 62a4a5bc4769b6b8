// Memory for lists of JSON values. nlohmann::json takes some in its destructor, which ends the
// process when there is none: then a little is kept in reserve.
#pragma once

#include <cstddef>

namespace zarrcore {

// Throws std::bad_alloc when the reserve is exhausted as well.
void* allocate_json(std::size_t bytes);
void free_json(void* memory) noexcept;

}  // namespace zarrcore
