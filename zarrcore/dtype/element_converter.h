// Loops of codecs and converters that compute with elements one by one, and converters that are
// such loops.
#pragma once

#include <algorithm>
#include <complex>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include "zarrcore/base/strided.h"
#include "zarrcore/dtype/dispatch.h"

namespace zarrcore {

// The work of ElementConverter::convert().
using ConversionLoop = void (*)(const std::byte* source, std::ptrdiff_t source_stride,
                                std::byte* destination, std::ptrdiff_t destination_stride,
                                std::size_t count);

// A converter that is a loop without state. Hundreds of loops share this class, which keeps builds
// short.
class LoopConverter final : public ElementConverter {
 public:
  explicit LoopConverter(ConversionLoop loop) : loop_(loop) {}

  void convert(const std::byte* source, std::ptrdiff_t source_stride, std::byte* destination,
               std::ptrdiff_t destination_stride, std::size_t count) const override {
    loop_(source, source_stride, destination, destination_stride, count);
  }

 private:
  ConversionLoop loop_;
};

template <typename Convert>
void convert_each(const Convert& convert, const std::byte* source, std::ptrdiff_t source_stride,
                  std::byte* destination, std::ptrdiff_t destination_stride, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    convert(source, destination);
    source += source_stride;
    destination += destination_stride;
  }
}

// Makes a converter that calls `convert(source, destination)` with the address of each element and
// of its destination, neither of which need be aligned.
template <typename Convert>
std::unique_ptr<const ElementConverter> make_element_converter(Convert convert) {
  if constexpr (std::is_empty_v<Convert>) {
    return std::make_unique<LoopConverter>(
        [](const std::byte* source, std::ptrdiff_t source_stride, std::byte* destination,
           std::ptrdiff_t destination_stride, std::size_t count) {
          convert_each(Convert(), source, source_stride, destination, destination_stride, count);
        });
  } else {
    class Converter final : public ElementConverter {
     public:
      explicit Converter(Convert convert) : convert_(std::move(convert)) {}

      void convert(const std::byte* source, std::ptrdiff_t source_stride, std::byte* destination,
                   std::ptrdiff_t destination_stride, std::size_t count) const override {
        convert_each(convert_, source, source_stride, destination, destination_stride, count);
      }

     private:
      Convert convert_;
    };
    return std::make_unique<Converter>(std::move(convert));
  }
}

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
