// The memory that this process takes.
#pragma once

#include <cstdint>

namespace zarrcore::fuzz {

// The most bytes of memory that the process has held at a time.
std::uint64_t peak_memory();

}  // namespace zarrcore::fuzz
