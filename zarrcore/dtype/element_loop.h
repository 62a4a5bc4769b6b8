// The loops of codecs and converters that compute with elements one by one.
#pragma once

#include <algorithm>
#include <complex>
#include <cstddef>

#include "zarrcore/dtype/dispatch.h"

namespace zarrcore {

// Puts `compute(x)` for each of the `count` elements x of type T at `source` to `destination`, in
// order. Both are arrays of T, which need not be aligned and may be the same.
template <typename T, typename Compute>
void transform_elements(const std::byte* source, std::byte* destination, std::size_t count,
                        Compute compute) {
  for (std::size_t i = 0; i < count; ++i) {
    store_element<T>(compute(load_element<T>(source + i * sizeof(T))), destination + i * sizeof(T));
  }
}

// Memory for the elements of a step of for_each_batch(), of any type to compute with.
inline constexpr std::size_t kBatchElements = 256;
struct ElementBatch {
  std::byte bytes[kBatchElements * sizeof(std::complex<double>)];
};

// Calls `body(first, size)` for `count` elements, a batch of at most kBatchElements at a time: so
// many that a step between two conversions finds them in the fastest cache.
template <typename Body>
void for_each_batch(std::size_t count, const Body& body) {
  for (std::size_t first = 0; first < count; first += kBatchElements) {
    body(first, std::min(kBatchElements, count - first));
  }
}

}  // namespace zarrcore
