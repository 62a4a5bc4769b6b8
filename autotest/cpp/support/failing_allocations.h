// Memory that runs out: `new` of the whole program fails where a test wants it to.
#pragma once

#include <cstdint>

namespace zarrcore::test {

// Tests that let each allocation fail continue in steps of this many: the sanitizer takes its time.
#ifdef __SANITIZE_ADDRESS__
inline constexpr std::uint64_t kAllocationStep = 7;
#else
inline constexpr std::uint64_t kAllocationStep = 1;
#endif

// The allocation that comes after `number` others fails, on whatever thread; then none does.
void fail_allocation_after(std::uint64_t number);
// From now on none fails. False if none has failed since fail_allocation_after().
bool stop_failing_allocations();

}  // namespace zarrcore::test
