#include "zarrcore/base/free_memory.h"

#include <cstddef>
#include <new>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "zarrcore/base/buffer_memory.h"

namespace zarrcore {

void return_free_memory() {
  return_kept_buffers();
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

}  // namespace zarrcore
