#include <windows.h>

// After windows.h, whose types it needs.
#include <psapi.h>

#include "autotest/fuzz/peak_memory.h"

namespace zarrcore::fuzz {

std::uint64_t peak_memory() {
  PROCESS_MEMORY_COUNTERS counters = {};
  counters.cb = sizeof(counters);
  K32GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof(counters));
  return counters.PeakWorkingSetSize;
}

}  // namespace zarrcore::fuzz
