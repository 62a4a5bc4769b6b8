#include "autotest/cpp/support/failing_allocations.h"

#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>

namespace zarrcore::test {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
std::atomic<std::int64_t> until_failure = kNever;

}  // namespace

void fail_allocation_after(std::uint64_t number) {
  until_failure = static_cast<std::int64_t>(number);
}

bool stop_failing_allocations() {
  return until_failure.exchange(kNever) < 0;
}

}  // namespace zarrcore::test

// The other forms of `new` and `delete` call these, except those for larger alignments.
void* operator new(std::size_t size) {
  void* memory = zarrcore::test::until_failure-- == 0 ? nullptr : std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void operator delete(void* memory) noexcept {
  std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
