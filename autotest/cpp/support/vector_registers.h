// The state of the processor's vector registers: on x86, instructions of older extensions are slow
// while the upper halves of registers hold values.
#pragma once

#include <optional>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace zarrcore::test {

#if defined(__x86_64__) || defined(__i386__)

// Whether the upper halves hold values after `body` if they did not before; nullopt if this
// processor does not tell.
template <typename Body>
__attribute__((target("avx,xsave"))) std::optional<bool> dirties_vector_registers(
    const Body& body) {
  constexpr unsigned kExtendedStates = 13;
  constexpr unsigned kTellsStatesInUse = 1 << 2;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (!__builtin_cpu_supports("avx") ||
      __get_cpuid_count(kExtendedStates, 1, &a, &b, &c, &d) == 0 || (a & kTellsStatesInUse) == 0) {
    return std::nullopt;
  }
  _mm256_zeroupper();
  body();
  constexpr unsigned long long kUpperHalves = 1 << 2 | 1 << 6;  // of AVX and AVX-512
  return (_xgetbv(1) & kUpperHalves) != 0;
}

#else

template <typename Body>
std::optional<bool> dirties_vector_registers(const Body& /*body*/) {
  return std::nullopt;
}

#endif

}  // namespace zarrcore::test
