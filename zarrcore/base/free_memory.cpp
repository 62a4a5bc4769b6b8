#include "zarrcore/base/free_memory.h"

#include <new>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#ifdef __linux__
#include <sys/mman.h>

#include <cstdint>
#endif

namespace zarrcore {

void return_free_memory() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

void expect_large_buffers() {
#ifdef __GLIBC__
  // glibc maps buffers by themselves only if they are larger than the largest one that it has seen
  // freed, and keeps up to twice that size of free memory. See M_MMAP_THRESHOLD in mallopt(3).
  constexpr std::size_t kLarge = std::size_t{16} << 20;
  [[maybe_unused]] static const bool has_seen = [] {
    ::operator delete(::operator new(kLarge, std::nothrow));
    return true;
  }();
#endif
}

void expect_full_use([[maybe_unused]] std::span<std::byte> buffer) {
#ifdef __linux__
  constexpr std::uintptr_t kLargePage = std::uintptr_t{2} << 20;
  const auto begin = reinterpret_cast<std::uintptr_t>(buffer.data());
  const std::uintptr_t start = (begin + kLargePage - 1) / kLargePage * kLargePage;
  const std::uintptr_t end = (begin + buffer.size()) / kLargePage * kLargePage;
  if (end > start) {
    static_cast<void>(::madvise(reinterpret_cast<void*>(start), end - start, MADV_HUGEPAGE));
  }
#endif
}

}  // namespace zarrcore
