// What runs by day, in minutes, and what only `script/test --night` runs, in hours.
#pragma once

#include <cstdlib>
#include <cstring>

namespace zarrcore {

// Returns true if ZARR_NIGHT=1 is in the environment, as script/test --night sets it.
inline bool is_night() {
  const char* value = std::getenv("ZARR_NIGHT");
  return value != nullptr && std::strcmp(value, "1") == 0;
}

// Returns how often a test repeats something.
template <typename Number>
Number rounds(Number day, Number night) {
  return is_night() ? night : day;
}

}  // namespace zarrcore
