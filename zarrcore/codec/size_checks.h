// Checks of sizes that a chunk must have, or cannot exceed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "zarrcore/base/error.h"

namespace zarrcore {

// Throws "lz4: 3 bytes where 4 are expected", for `before` "lz4: ", unless the sizes are equal.
inline void check_size(std::string_view before, std::uint64_t size, std::uint64_t expected) {
  if (size == expected) return;
  throw Error(std::string(before) + std::to_string(size) + " bytes where " +
              std::to_string(expected) + " are expected");
}

// Throws "lz4: 5 bytes, more than the 4 that can be right" when `size` is more than `max_size`.
inline void check_max_size(std::string_view before, std::uint64_t size, std::uint64_t max_size) {
  if (size <= max_size) return;
  throw Error(std::string(before) + std::to_string(size) + " bytes, more than the " +
              std::to_string(max_size) + " that can be right");
}

}  // namespace zarrcore
