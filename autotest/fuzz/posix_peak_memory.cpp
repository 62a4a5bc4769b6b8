#include <sys/resource.h>

#include "autotest/fuzz/peak_memory.h"

namespace zarrcore::fuzz {

std::uint64_t peak_memory() {
  struct rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) << 10;
}

}  // namespace zarrcore::fuzz
