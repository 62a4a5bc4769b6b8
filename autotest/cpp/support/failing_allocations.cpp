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

#ifdef __linux__
// The library for JSON loses an object when adding the members of an initializer list to it fails.
extern "C" __attribute__((visibility("default"))) const char* __lsan_default_options();  // NOLINT
extern "C" const char* __lsan_default_options() {  // NOLINT: a name of the sanitizer's
  return "detect_leaks=0";
}
#endif

// All forms but those for larger alignments: the sanitizers have their own, which would be mixed.
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return zarrcore::test::until_failure-- == 0 ? nullptr : std::malloc(size == 0 ? 1 : size);
}
void* operator new(std::size_t size) {
  void* memory = ::operator new(size, std::nothrow);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new[](std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return ::operator new(size, std::nothrow);
}
void* operator new[](std::size_t size) {
  return ::operator new(size);
}

void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);
}
void operator delete(void* memory, const std::nothrow_t& /*tag*/) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, const std::nothrow_t& /*tag*/) noexcept {
  std::free(memory);
}
