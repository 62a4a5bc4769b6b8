#include <isa-l/crc.h>

#include <algorithm>
#include <limits>

#include "zarrcore/base/crc32c.h"

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace zarrcore {
namespace {

#if defined(__x86_64__) || defined(__i386__)
__attribute__((target("avx"))) void clear_upper_halves() {
  _mm256_zeroupper();
}
#endif

// The library leaves values in the upper halves of vector registers, which makes the floating-point
// arithmetic of the program several times slower from then on.
void clean_vector_registers() {
#if defined(__x86_64__) || defined(__i386__)
  if (__builtin_cpu_supports("avx") != 0) clear_upper_halves();
#endif
}

}  // namespace

std::uint32_t crc32c(ByteSpan bytes) {
  std::uint32_t crc = 0xffffffffu;
  while (!bytes.empty()) {
    // The library counts bytes with an int, and its parameter lacks a const.
    const auto count = std::min<std::size_t>(bytes.size(), std::numeric_limits<int>::max());
    auto* data = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(bytes.data()));
    crc = crc32_iscsi(data, static_cast<int>(count), crc);
    bytes = bytes.subspan(count);
  }
  clean_vector_registers();
  return ~crc;
}

}  // namespace zarrcore
